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
    await tab.expectText('#caps', '0 of 100,000 subscribers');

    await tab.click('link', 'Local stack');
    await tab.expectView('Local stack');
    await tab.type('User id', 'ada');
    await tab.click('button', 'Subscribe');
    await tab.expectText('#browser-lead', 'Waiting for your decision: allow or block');
    await firefox.allowNotifications();
    await tab.expectText('#browser-status', 'Subscribed');
    expect(await stack.subscriptions(stack.demo)).toMatchObject([{ userId: 'ada' }]);
    await tab.click('button', 'Check this browser');
    await tab.expectText('>>> .carillon-check', '✓ registration');

    await tab.click('link', 'Send');
    await tab.click('button', 'Send to 1 subscriber');
    await tab.expectText('[role=dialog]', 'You can stop it while it is being sent');
    await tab.click('button', 'Send now');
    await tab.expectView('The bells are ringing');
    await expectCount('Shown', 1);
    await firefox.clickNotification('The bells are ringing');
    await expectCount('Clicked', 1);
    // The click may have opened another tab. Firefox slows down those in the background.
    await tab.page.bringToFront();

    await tab.page.reload();
    await expectCount('Clicked', 1);
    await tab.click('link', 'Notifications');
    await tab.expectText('tbody tr', 'The bells are ringing');
    await tab.expectText('tbody tr', '100 %');

    await tab.click('link', 'Users');
    await tab.type('User id', 'ada');
    await tab.click('button', 'Look up');
    await tab.expectText('#user', 'ada has 1 subscription.');
    await tab.click('button', 'Remove all subscriptions of this user');
    await tab.expectText('[role=dialog]', 'Remove ada?');
    await tab.page.click('[role=dialog] button:last-of-type');
    await tab.expectText('#user', 'Removed 1 subscription of ada.');
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
    await tab.expectText('[data-figure=Subscribers]', '3');

    await tab.click('link', 'Send');
    await tab.type('Title', 'News of today');
    await tab.expectText('#audience-size', 'Goes to 3 subscribers.');
    await tab.click('checkbox', 'news 2');
    await tab.expectText('#audience-size', 'Goes to 2 subscribers.');
    await tab.expectText('.preview-title', 'News of today');
    await tab.click('button', 'Send to 2 subscribers');
    await tab.click('button', 'Send now');
    await tab.expectView('News of today');
    await expectCount('Delivered', 2);
    await tab.expectText('main', 'to everyone, with news');

    await tab.click('link', 'Send again');
    await tab.expectView('Send');
    await tab.expectText('#audience-size', 'Goes to 2 subscribers.');

    const stored = await storedText(tab.page);
    expect(stored).toContain(projectId);
    expect(stored).not.toContain(secretKey);
    await tab.click('button', 'Sign out');
    await tab.expectView('Carillon console');
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
    await tab.expectText('#verdict', 'Sending.');
    await tab.click('button', 'Stop');
    await tab.expectText('[role=dialog]', 'Stop A mistake?');
    await tab.click('button', 'Stop sending');
    await tab.expectText('#verdict', 'Stopping');
    await tab.expectText('#verdict', 'Stopped. Nobody was reached: 1 failed');
    await tab.click('link', 'All notifications');
    await tab.expectText('tbody tr', 'stopped');
  });

  test('failures are counted by reason, with what to do', async () => {
    const project = await stack.newProject();
    await stack.subscribe(project);
    for (const status of [410, 403]) (await stack.subscribe(project)).behave({ status });
    const { id } = await stack.send(project, { title: 'For some' });
    await tab.openView(project, `/notifications/${id}`);
    await tab.expectText('#verdict', 'Delivered to 1 of 3 subscribers.');
    await tab.expectText('[data-count=removed]', '1 removed.');
    await tab.expectText('[data-count=failed] tbody', 'The push service refused the VAPID token');
    await tab.expectText('[data-count=failed] tbody', 'The operator checks the setting');
    await tab.click('link', 'All notifications');
    await tab.expectText('tbody tr', 'failed');
  });

  test('the list is searched and filtered, older pages are loaded, and an id is opened', async () => {
    const project = await stack.newProject('long-list', { rateLimitPerMinute: 1000 });
    const send = (title: string) => stack.send(project, { title, userIds: ['nobody'] });
    const { id } = await send('A needle');
    for (let sent = 0; sent < 100; sent += 20) {
      await Promise.all(Array.from({ length: 20 }, () => send('Hay')));
    }
    await stack.send(project, { title: 'To all' });
    await tab.openView(project, '/notifications');
    await tab.type('Search titles, texts and ids', 'needle');
    await tab.expectText('#searched', '0 found in 100 notifications');
    await tab.click('button', 'Load older notifications');
    await tab.expectText('#searched', '1 found in 102 notifications: all that are stored.');
    await tab.expectText('tbody', 'A needle');
    await tab.type('Search titles, texts and ids', ' ');
    await tab.page.select('main select:last-of-type', 'Any');
    const [, audience] = await tab.page.$$('main select');
    await audience!.select('Everyone');
    await tab.expectText('#searched', '1 found in 102 notifications');
    await tab.expectText('tbody', 'To all');

    await tab.openView(project, '/notifications');
    await tab.type('Search titles, texts and ids', id);
    await tab.click('link', 'Open the notification with this id');
    await tab.expectView('A needle');
    await tab.openView(project, '/notifications/no-such-id');
    await tab.expectText('[role=alert]', 'It may be older than 90 days');
  });

  test('simulated browsers subscribe at a click, until the limit, and show what is sent', async () => {
    const project = await stack.newProject('simulated', { subscriberCap: 60 });
    await tab.openView(project, '/local');
    await tab.click('button', 'Add 500 simulated browsers');
    await tab.expectText('[role=alert]', 'limit');
    await tab.click('link', 'Overview');
    await tab.expectText('#caps', '60 of 60 subscribers');
    await tab.expectText('#caps', 'refuses new subscribers');
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
    await tab.click('radio', 'Some users, each with a text of their own');
    await tab.type('Recipients', 'userId,name\nada,Ada\ngrace,Grace');
    await tab.expectText('.preview-title', 'Hello Ada');
    await tab.click('button', 'Send to 2 user ids');
    await tab.click('button', 'Send now');
    await expectCount('Delivered', 2);
    expect((await ada.nextMessage()).text).toContain('Hello Ada');
    expect((await grace.nextMessage()).text).toContain('Hello Grace');
  });

  test('a test goes to one user id only, and its outcome is said', async () => {
    const project = await stack.newProject();
    const [ada, other] = [await stack.subscribe(project, 'ada'), await stack.subscribe(project)];
    await tab.openView(project, '/send');
    await tab.type('Title', 'A test');
    await tab.type('Test: your own user id', 'ada');
    await tab.click('button', 'Send a test');
    await tab.expectText('#test-result', 'Delivered to 1 of 1 subscriber.');
    expect((await ada.nextMessage()).text).toContain('A test');
    expect(other.messages).toEqual([]);
  });

  test('an invalid field gets an error and the focus, also one among the options', async () => {
    await tab.openView(await stack.newProject(), '/send');
    await tab.type('Title', ' ');
    await tab.click('button', 'Send to 0 subscribers');
    await tab.expectText('form', 'Title must not be blank: people read it first.');
    expect(await tab.focus()).toBe('send-title');
    await tab.type('Title', 'T');
    await tab.click('button', 'More options');
    await tab.type('App badge', 'x');
    await tab.click('button', 'More options: 1 set');
    await tab.click('button', 'Send to 0 subscribers');
    await tab.expectText('#issues', '1 field to correct.');
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
    await tab.click('link', 'Users');
    await tab.type('User id', 'ada');
    await tab.click('button', 'Look up');
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
    await tab.click('button', 'Check this browser');
    await tab.expectText('>>> .carillon-check', '✗ permission: Nobody has been asked yet');
    await firefox.setPermission(stack.baseUrl, 'denied');
    await tab.click('button', 'Subscribe');
    await tab.expectText('>>> .carillon-check', '✗ permission: Notifications are blocked');
  });
});
