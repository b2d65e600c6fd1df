import { localPaths } from '../../console/local-stack.ts';
import { until } from '../fixtures/until.ts';
import { describeWith } from './fixtures/browsers.ts';
import { type ConsolePage, openConsole } from './fixtures/console-page.ts';
import { type Firefox, launchFirefox } from './fixtures/firefox.ts';
import { type BrowserStack, startBrowserStack } from './fixtures/stack.ts';
import { storedText } from './fixtures/stored-text.ts';

describeWith('firefox', 'the console in Firefox', (executablePath) => {
  let stack: BrowserStack;
  let firefox: Firefox;
  let tab: ConsolePage;

  beforeAll(async () => {
    stack = await startBrowserStack();
    firefox = await launchFirefox({
      executablePath,
      pushService: stack.pushService.origin,
      permission: 'default',
    });
    tab = await openConsole(firefox.browser, stack.consoleAddress);
  });

  afterAll(async () => {
    await firefox?.close();
    await stack?.stop();
  });

  const expectCount = (name: string, count: number) =>
    tab.expectText(`[data-count=${name}]`, String(count));

  test('a person subscribes, sends, sees the click, finds it after a reload, and removes the user', async () => {
    await tab.open();
    await tab.expectView('Overview');
    await tab.expectText('main ol', 'Subscribe a browser');

    await tab.click('link', 'Subscribe this browser');
    await tab.expectView('Local stack');
    await tab.click('summary', 'Add a user id');
    await tab.type('User id', 'ada');
    await tab.click('button', 'Subscribe');
    await tab.expectText('#browser-lead', 'Allow notifications if the browser asks.');
    await firefox.allowNotifications();
    await tab.expectText('#browser-status', 'Subscribed');
    expect(await stack.subscriptions(stack.demo)).toMatchObject([{ userId: 'ada' }]);
    await tab.click('button', 'Nothing arrives? Check this browser');
    await tab.expectText('main >>> #sum ~ details', 'Known to Carillon');

    await tab.click('link', 'New notification');
    await tab.click('button', 'Send to 1');
    await tab.expectText('dialog[open]', 'You can stop it, but what is delivered stays.');
    await tab.confirm();
    await tab.expectView('The bells are ringing');
    await expectCount('Shown', 1);
    await firefox.clickNotification('The bells are ringing');
    // The click may have opened another tab. Firefox slows down those in the background.
    await tab.page.bringToFront();
    await expectCount('Clicked', 1);

    await tab.page.reload();
    await expectCount('Clicked', 1);
    await tab.click('link', 'Notifications');
    await tab.expectText('tbody tr', 'The bells are ringing');
    await tab.expectText('tbody tr', '100 %');

    await tab.click('link', 'Audience');
    await tab.type('User id', 'ada');
    await tab.click('button', 'Find');
    await tab.expectText('#user', 'ada has 1 browser.');
    await tab.click('button', 'Remove all');
    await tab.expectText('dialog[open]', 'Remove 1 browser of ada?');
    await tab.confirm();
    await tab.expectText('#user', 'Removed 1 browser of ada.');
    expect(await stack.subscriptions(stack.demo)).toEqual([]);
  });

  test('a person signs in, sends to a channel, watches the counts, and signs out', async () => {
    const project = await stack.newProject();
    const { projectId, secretKey } = project;
    for (const channels of [['news'], ['news', 'sales'], []]) {
      await stack.subscribe(project, undefined, channels);
    }
    await tab.openView({ ...project, secretKey: `${secretKey.slice(0, -1)}_` });
    await tab.expectText('[role=alert]', 'no project with this id and this key');
    await tab.type('Key', secretKey);
    await tab.click('button', 'Sign in');
    await tab.expectView('Overview');
    await tab.expectText('main ol', '3 browsers are subscribed.');

    await tab.click('link', 'New notification');
    await tab.type('Title', 'News of today');
    await tab.expectText('aside', 'Send to 3');
    await tab.click('radio', 'Some subscribers');
    await tab.expectText('aside', 'Choose a channel or a last visit.');
    await tab.click('checkbox', 'news 2');
    await tab.expectText('aside', 'of 3 subscribers');
    await tab.expectText('.preview-title', 'News of today');
    await tab.click('button', 'Send to 2');
    await tab.expectText('dialog[open]', 'Send to 2 subscribers?');
    await tab.confirm();
    await tab.expectView('News of today');
    await expectCount('Delivered', 2);
    await tab.expectText('main', 'to channel news');

    await tab.click('button', 'Send again');
    await tab.expectView('New notification');
    await tab.expectText('aside', 'Send to 2');

    const stored = await storedText(tab.page);
    expect(stored).toContain(projectId);
    expect(stored).not.toContain(secretKey);
    await tab.page.click('.account');
    await tab.click('button', 'Sign out');
    // The copy is a draft.
    await tab.confirm();
    await tab.expectView('Sign in to Carillon');
    expect(await tab.page.content()).not.toContain(secretKey);
    await tab.page.reload();
    await tab.expectText('form', 'Sign in');
  });

  test('a notification that is being sent is stopped, after a question', async () => {
    const project = await stack.newProject();
    // Longer than a push and its retries take.
    (await stack.subscribe(project)).behave({ stall: true });
    const id = await stack.startSend(project, { title: 'A mistake' });
    await tab.openView(project, `/notifications/${id}`);
    await tab.expectText('#verdict', '0 delivered so far, of about 1.');
    await tab.click('button', 'Stop');
    await tab.expectText('dialog[open]', 'Stop “A mistake”?');
    await tab.confirm();
    await tab.expectText('#verdict', 'The last pushes end within seconds.');
    await tab.expectText('#verdict', '0 of 1 were delivered before the stop.');
    await tab.click('link', 'Notifications');
    await tab.expectText('tbody tr', 'Stopped');
  });

  test('simulated browsers subscribe at a click, until the limit, and show what is sent', async () => {
    const project = await stack.newProject('simulated', { subscriberCap: 60 });
    await tab.openView(project, '/local');
    await tab.click('button', 'Add 500 simulated browsers');
    await tab.expectText('[role=alert]', 'limit');
    await tab.click('link', 'Overview');
    const { id } = await stack.send(project, { title: 'To everyone' });
    await tab.openView(project, `/notifications/${id}`);
    await tab.expectView('To everyone');
    await tab.page.waitForSelector('[data-count=Shown]');
    await until('many shown', async () => {
      const shown = await tab.page.$eval('[data-count=Shown]', (cell) => Number(cell.textContent));
      return shown > 25;
    });
  });

  test('simulated browsers are counted when all have subscribed', async () => {
    await tab.openView(await stack.newProject(), '/local');
    // 500 real subscriptions take 20 seconds, and the test before has some.
    await tab.page.evaluate((path) => {
      const { fetch } = window;
      window.fetch = async (url, init) =>
        String(url).includes(path) ? Response.json({}) : fetch(url, init);
    }, localPaths.simulatedBrowsers);
    await tab.click('button', 'Add 500 simulated browsers');
    await tab.expectText('#added', 'Added 500 browsers.');
  });

  test('each recipient of a table gets a text of their own', async () => {
    const project = await stack.newProject();
    const [ada, grace] = [
      await stack.subscribe(project, 'ada'),
      await stack.subscribe(project, 'grace'),
    ];
    await tab.openView(project, '/send');
    await tab.type('Title', 'Hello {{name}}');
    await tab.click('radio', 'Certain users');
    await tab.click('checkbox', 'A text for each user');
    await tab.type('Recipients', 'userId,name\nada,"Lovelace, Ada"\ngrace,Grace');
    await tab.expectText('.preview-title', 'Hello Lovelace, Ada');
    await tab.click('button', 'Next recipient');
    await tab.expectText('aside', 'grace, 2 of 2');
    await tab.expectText('.preview-title', 'Hello Grace');
    await tab.click('button', 'Send to 2 users');
    await tab.expectText('dialog[open]', `To ada and grace. Project: ${project.projectId}.`);
    await tab.confirm();
    await expectCount('Delivered', 2);
    expect((await ada.nextMessage()).text).toContain('Hello Lovelace, Ada');
    expect((await grace.nextMessage()).text).toContain('Hello Grace');
  });

  test('an invalid field gets an error and the focus, also one among the options', async () => {
    await tab.openView(await stack.newProject(), '/send');
    await tab.type('Title', ' ');
    await tab.expectText('aside', 'Nobody is subscribed yet.');
    // Also where there is nobody to send to, the form is checked.
    await tab.click('button', 'Nobody to send to');
    await tab.expectText('form', 'Write a title.');
    expect(await tab.focus()).toBe('send-title');
    await tab.type('Title', 'T');
    await tab.click('summary', 'Options');
    await tab.type('App badge', 'x');
    await tab.expectText('summary', 'app badge');
    await tab.click('summary', 'Options');
    await tab.click('button', 'Nobody to send to');
    await tab.expectText('aside .issues', '1 field to correct.');
    await until('the focus', async () => (await tab.focus()) === 'send-appBadge');
  });

  test('a key that expires or is taken back says so, and asks for another one', async () => {
    const project = await stack.newProject();
    await tab.openView(project);
    await tab.expectView('Overview');
    await tab.page.evaluate(() => {
      const error = { code: 'unauthorized', message: 'No.' };
      window.fetch = async () => new Response(JSON.stringify({ error }), { status: 401 });
    });
    await tab.click('link', 'Audience');
    await tab.expectText('[role=alert]', 'Your key is no longer valid.');
    expect(await tab.page.content()).not.toContain(project.secretKey);
  });

  test('no file of the page contains a key', async () => {
    const html = await (await fetch(`${stack.baseUrl}/console`)).text();
    const files = [...html.matchAll(/"(\/console\/[^"]+)"/g)].map(([, file]) => file!);
    for (const path of ['/console', ...files, '/carillon.js', '/carillon-sw.js']) {
      const file = await (await fetch(stack.baseUrl + path)).text();
      const keys = [stack.demo.secretKey, stack.demo.applicationServerKey];
      expect(keys.filter((key) => file.includes(key))).toEqual([]);
    }
  });

  // The last one: Firefox subscribes again when the permission returns.
  test('a list of checks is made again after a refused Subscribe', async () => {
    await firefox.setPermission(stack.baseUrl, 'default');
    await tab.openView(await stack.newProject(), '/local');
    await tab.click('button', 'Nothing arrives? Check this browser');
    await tab.expectText('main >>> #sum ~ ul', 'Nobody has been asked yet');
    await firefox.setPermission(stack.baseUrl, 'denied');
    await tab.click('button', 'Subscribe');
    await tab.expectText('main >>> #sum ~ ul', 'Notifications are blocked');
  });
});
