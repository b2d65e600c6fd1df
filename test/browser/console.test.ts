import { type ConsoleServer, startConsoleServer } from '../../console/console-server.ts';
import { pathOf, routes } from '../../contract/routes.ts';
import { temporaryFolder } from '../fixtures/folder.ts';
import { until } from '../fixtures/until.ts';
import { describeWith } from './fixtures/browsers.ts';
import { type ConsolePage, openConsole } from './fixtures/console-page.ts';
import { type Firefox, launchFirefox } from './fixtures/firefox.ts';
import { type BrowserStack, startBrowserStack } from './fixtures/stack.ts';

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

  /** Waits for a count of the delivery that is shown. */
  const expectCount = (step: string, count: number) =>
    tab.expectText(`[data-step=${step}] .funnel-count`, String(count));

  test('a person subscribes, sends, sees the click, finds it after a reload, and removes the user', async () => {
    await tab.open();
    await tab.expectView('Overview');
    await tab.expectText('[aria-label=Subscribers]', '0 of 100,000');

    await tab.click('link', 'This browser');
    await tab.expectView('This browser');
    await tab.type('User id', 'ada');
    await tab.click('button', 'Subscribe');
    await tab.expectText('#browser-lead', 'Waiting for your decision: allow or block');
    await firefox.allowNotifications();
    await tab.expectText('#browser-status', 'Subscribed');
    expect(await stack.subscriptions(stack.demo)).toMatchObject([{ userId: 'ada' }]);
    await tab.click('button', 'Check this browser');
    await tab.expectText('.carillon-check', '✓ registration');
    await tab.screenshot('check');

    await tab.click('link', 'Send a notification');
    await tab.click('button', 'Send to 1 subscriber');
    await tab.expectText('dialog', 'It cannot be taken back.');
    await tab.click('button', 'Send');
    await expectCount('Shown', 1);
    expect(await tab.focus()).toBe('outcome-title');
    await firefox.clickNotification('The bells are ringing');
    await expectCount('Clicked', 1);
    // The click may have opened another tab. Firefox slows down those in the background.
    await tab.page.bringToFront();
    await tab.screenshot('send');

    await tab.click('link', 'Open this notification');
    await tab.expectView('The bells are ringing');
    await tab.page.reload();
    await expectCount('Clicked', 1);
    await tab.screenshot('notification');
    await tab.click('link', 'Notifications');
    await tab.expectText('.row', 'The bells are ringing');
    await tab.expectText('.row', 'Delivered1 100 %');

    await tab.click('link', 'Users');
    await tab.type('User id', 'ada');
    await tab.click('button', 'Look up');
    await tab.expectText('[role=status]', 'ada has 1 subscription.');
    await tab.click('button', 'Remove all subscriptions of this user');
    await tab.click('button', 'Remove');
    await tab.expectText('[role=status]', 'Removed 1 subscription of ada.');
    expect(await stack.subscriptions(stack.demo)).toEqual([]);

    await tab.click('link', 'Send');
    await tab.click('button', 'Send to 0 subscribers');
    await tab.click('button', 'Send');
    await tab.expectText('.outcome', 'No subscriber matched: nobody is subscribed');
    await tab.click('link', 'Overview');
    await tab.expectText('[aria-label^="Notifications in"]', '2 of 10,000');
    await tab.screenshot('overview');
  });

  test('a large send shows its progress until every push was attempted', async () => {
    for (const behaviour of [{ delayMs: 6000 }, { status: 410 }, { status: 403 }]) {
      (await stack.subscribe(stack.demo)).behave(behaviour);
    }
    await tab.open('#/projects/demo/send');
    await tab.page.click('details:has(#send-ttl) summary');
    await tab.click('checkbox', 'Respond before the delivery');
    await tab.page.click('#send');
    await tab.click('button', 'Send');
    await tab.expectText('.outcome [role=status]', 'Sending.');
    await tab.expectText('.outcome .progress', 'of about 3 attempted');
    await tab.expectText('.outcome [role=status]', 'Delivered to 1 of 3 subscribers.');
    await tab.expectText('[data-count=removed]', '1 removed.');
    await tab.expectText('.failures', '1 × The push service refused the VAPID token');
    await tab.screenshot('failures');
  });

  test('a notification that is being sent is stopped, after a question', async () => {
    const project = await stack.newProject();
    const { projectId, secretKey } = project;
    // Longer than a push and its retries take.
    (await stack.subscribe(project)).behave({ stall: true });
    const response = await fetch(stack.baseUrl + pathOf(routes.send, { projectId }), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secretKey}`,
        'content-type': 'application/json',
        prefer: 'respond-async',
      },
      body: '{"title":"A mistake"}',
    });
    const { id } = (await response.json()) as { readonly id: string };
    await tab.open(`#/projects/${projectId}/notifications/${id}`);
    await tab.type('Secret key', secretKey);
    await tab.click('button', 'Open');
    await tab.expectText('[role=status]', 'Sending.');
    await tab.click('button', 'Stop');
    await tab.expectText('dialog', 'Stop A mistake?');
    await tab.click('button', 'Stop sending');
    await tab.expectText('[role=status]', 'Stopping');
    expect(await tab.focus()).toBe('delivery-title');
    await tab.expectText('[role=status]', 'Stopped. Nobody was reached: 1 failed');
    await tab.click('link', 'All notifications');
    await tab.expectText('.row-meta', 'stopped');
  });

  test('simulated browsers subscribe at a click, and the counts of a send are compared', async () => {
    const projectId = 'simulated';
    const { secretKey } = await stack.newProject(projectId, { subscriberCap: 510 });
    await tab.open(`#/projects/${projectId}`);
    await tab.type('Secret key', secretKey);
    await tab.click('button', 'Open');
    await tab.expectText('[aria-label=Subscribers]', '0 of 510');
    await tab.click('button', 'Add 500 simulated browsers');
    await tab.expectText('.progress', 'of 500 subscribed');
    await tab.expectText('[role=status]', 'Added 500 browsers.');
    await tab.expectText('[aria-label=Subscribers]', '500 of 510');
    await tab.expectText('#sample', 'Seen within 7 days500, 100 %');
    await tab.screenshot('simulated-browsers');

    await tab.click('button', 'Add 500 simulated browsers');
    await tab.expectText('[role=alert] .problem', '--subscriber-cap');
    await tab.expectText('[aria-label=Subscribers]', '510 of 510');

    await tab.click('link', 'Send');
    await tab.click('button', 'Send to 510 subscribers');
    await tab.click('button', 'Send');
    await tab.expectText('[data-count=received]', 'received 510 of 510 delivered messages');
  });

  test('each recipient of a table gets a text of their own', async () => {
    const project = await stack.newProject('personal');
    const { projectId, secretKey } = project;
    const browser = await stack.subscribe(project, 'ada');
    await tab.open(`#/projects/${projectId}/send`);
    await tab.type('Secret key', secretKey);
    await tab.click('button', 'Open');
    await tab.type('Title', 'Hello {{name}}');
    await tab.click('radio', 'Some users, each with a text of their own');
    await tab.type('Recipients', 'userId,name\nada,Ada\nbob');
    await tab.expectText('.preview-title', 'Hello Ada');
    await tab.click('button', 'Send to 2 user ids');
    await tab.expectText('#send-recipients-error', 'Recipients in line 3: name is required.');
    await tab.screenshot('personal');
    await tab.type('Recipients', 'userId,name\nada,Ada\nbob,Bob');
    await tab.click('button', 'Send to 2 user ids');
    await tab.expectText('[data-count=users]', '1 of 2 users reached');
    expect(JSON.parse((await browser.nextMessage()).text).notification.title).toBe('Hello Ada');

    await tab.click('link', 'Open this notification');
    await tab.expectText('dl', 'TitleHello {{name}}');
    await tab.click('link', 'Edit and send again');
    await tab.click('button', 'Send to 0 user ids');
    await tab.expectText('#send-recipients-error', 'Recipients must have a line of names');
  });

  test('a test goes to this browser only, and never to a user id that others have', async () => {
    const testing = await stack.newProject('testing');
    await firefox.setPermission(stack.baseUrl, 'granted');
    await stack.subscribe(testing, 'other');
    await tab.open('#/projects/testing/send');
    await tab.type('Secret key', testing.secretKey);
    await tab.click('button', 'Open');
    await tab.type('Title', ' ');
    await tab.click('button', 'Send a test to this browser');
    await tab.expectText('#send-title-error', 'Title must not be blank: people read it first.');
    expect(await tab.focus()).toBe('send-title');
    await tab.type('Title', 'Only a test for {{name}}');
    await tab.click('radio', 'Some users, each with a text of their own');
    await tab.type('Recipients', 'userId,name\nother,Ada');
    await tab.click('button', 'Send a test to this browser');
    await tab.expectText('.outcome [role=status]', 'Delivered to 1 of 1 subscriber.');
    const mine = (await stack.subscriptions(testing)).find(({ userId }) => userId !== 'other');
    await stack.subscribe(testing, mine!.userId);
    await tab.click('button', 'Send a test to this browser');
    await tab.expectText('[role=alert]', '2 browsers have the user id');
    await firefox.clickNotification('Only a test for Ada');
  });

  test('an invalid field gets an error, and the focus', async () => {
    await tab.open('#/projects/demo/send');
    await tab.page.click('details:has(#send-ttl) summary');
    await tab.type('Time to live (seconds)', '-1');
    await tab.page.click('#send');
    await tab.expectText('#send-ttl-error', 'must be a whole number of seconds from 0 to');
    expect(await tab.focus()).toBe('send-ttl');
    const described = await tab.page.$eval('#send-ttl', (input) =>
      input.getAttribute('aria-describedby'),
    );
    expect(described).toBe('send-ttl-error send-ttl-hint');
  });

  test('another project is opened with its id and key; a wrong key is refused', async () => {
    const { projectId, secretKey } = await stack.newProject();
    await tab.open('#/projects');
    await tab.type('Project id', projectId);
    await tab.type('Secret key', stack.demo.secretKey);
    await tab.click('button', 'Open');
    await tab.expectText('[role=alert]', 'no project with this id and this secret key.');
    await tab.type('Project id', 'demmo');
    await tab.click('button', 'Open');
    await tab.expectText('form > .hint', 'Did you mean “demo”?');
    await tab.type('Project id', ` ${projectId} `);
    await tab.type('Secret key', ` ${secretKey} `);
    await tab.click('button', 'Open');
    await tab.expectView('Overview');
    await tab.expectText('.project', projectId);
  });

  test('a project whose id is a property of every object is opened, and keeps its draft', async () => {
    const { secretKey } = await stack.newProject('constructor');
    await tab.open('#/projects/constructor/send');
    await tab.expectView('Open constructor');
    await tab.type('Secret key', secretKey);
    await tab.click('button', 'Open');
    await tab.expectView('Send');
    await tab.type('Title', 'A draft');
    await tab.click('link', 'Overview');
    await tab.expectText('.project', 'constructor');
    await tab.click('link', 'Send');
    const title = (await tab.page.waitForSelector('#send-title'))!;
    expect(await title.evaluate((field) => (field as HTMLInputElement).value)).toBe('A draft');
  });

  describe('of a deployed service', () => {
    let server: ConsoleServer;

    beforeAll(async () => {
      server = await startConsoleServer({ root: process.cwd(), baseUrl: stack.baseUrl, port: 0 });
    });

    afterAll(() => server.stop());

    test('the secret key is asked for after each reload, and stored nowhere', async () => {
      const { projectId, secretKey } = await stack.newProject();
      const deployed = await openConsole(firefox.browser, `${server.origin}/`);
      const send = `#/projects/${projectId}/send`;
      await deployed.open(send);
      await deployed.type('Secret key', secretKey);
      await deployed.click('button', 'Open');
      await deployed.expectView('Send');
      await deployed.type('Title', 'To everyone');
      await deployed.click('button', 'Send to 0 subscribers');
      await deployed.expectText('dialog', 'It cannot be taken back.');
      await deployed.click('button', 'Send');
      await deployed.expectText('.outcome', 'No subscriber matched');

      const stored = await deployed.page.evaluate(() =>
        JSON.stringify([
          { ...localStorage },
          { ...sessionStorage },
          document.cookie,
          location.href,
        ]),
      );
      expect(stored).not.toContain(secretKey);
      expect(stored).toContain(send);
      await deployed.page.reload();
      await deployed.expectView(`Open ${projectId}`);
      await deployed.page.close();
    });
  });

  test('a watched page is built and loaded again when one of its files changes', async () => {
    const folder = temporaryFolder();
    const files = {
      'index.html': '<script src="/console.js"></script>',
      'console.css': '',
      'bell.svg': '',
    };
    for (const [name, text] of Object.entries(files)) folder.write(`console/page/${name}`, text);
    folder.write('openapi.json', '{}');
    const write = (title: string) =>
      folder.write('console/page/main.tsx', `document.title = '${title}';`);
    write('One');
    const ended = new AbortController();
    const { baseUrl } = stack;
    const options = { root: folder.path, baseUrl, port: 0, watch: ended.signal };
    const server = await startConsoleServer(options);
    try {
      await tab.page.goto(server.origin);
      for (const title of ['One', 'Two']) {
        write(title);
        await until(title, async () => (await tab.page.title()) === title);
      }
    } finally {
      ended.abort();
      await server.stop();
      folder.remove();
    }
  });

  test('no file of the page contains the secret key', async () => {
    for (const path of ['/', '/console.js', '/console.css', '/carillon.js', '/carillon-sw.js']) {
      const file = await (await fetch(stack.baseUrl + path)).text();
      const keys = [stack.demo.secretKey, stack.demo.applicationServerKey];
      expect(keys.filter((key) => file.includes(key))).toEqual([]);
    }
  });

  // The last one: Firefox subscribes again when the permission returns.
  test('a list of checks is made again after a refused Subscribe', async () => {
    await firefox.setPermission(stack.baseUrl, 'default');
    const { projectId, secretKey } = await stack.newProject();
    await tab.open(`#/projects/${projectId}/browser`);
    await tab.type('Secret key', secretKey);
    await tab.click('button', 'Open');
    await tab.click('button', 'Check this browser');
    await tab.expectText('.carillon-check', '✗ permission: Nobody has been asked yet');
    await firefox.setPermission(stack.baseUrl, 'denied');
    await tab.click('button', 'Subscribe');
    await tab.expectText('.carillon-check', '✗ permission: Notifications are blocked');
  });
});
