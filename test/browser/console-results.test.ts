import { describeWith } from './fixtures/browsers.ts';
import { type ConsolePage, openConsole } from './fixtures/console-page.ts';
import { type Firefox, launchFirefox } from './fixtures/firefox.ts';
import { type BrowserStack, startBrowserStack, type TestProject } from './fixtures/stack.ts';

describeWith('firefox', 'sent notifications in the console in Firefox', (executablePath) => {
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

  async function openView({ projectId, secretKey }: TestProject, view: string) {
    await tab.open(`#/projects/${projectId}${view}`);
    await tab.type('Secret key', secretKey);
    await tab.click('button', 'Open');
  }

  /** Holds the next pages of the list. @returns releases them, and waits until the page has their responses. */
  async function holdOlderPages(): Promise<() => Promise<void>> {
    await tab.page.evaluate(() => {
      const original = fetch;
      const released = new Promise((resolve) => addEventListener('release', resolve));
      window.fetch = async (...parameters) => {
        if (!String(parameters[0]).includes('cursor=')) return original(...parameters);
        await released;
        const response = await original(...parameters);
        document.documentElement.dataset.released = 'true';
        return response;
      };
    });
    return async () => {
      await tab.page.evaluate(() => dispatchEvent(new Event('release')));
      await tab.page.waitForSelector('[data-released]');
    };
  }

  /** Sends one notification with a title of its own, and then so many that it is on no first page. */
  async function sendNeedle(): Promise<TestProject> {
    const project = await stack.newProject();
    const send = (title: string) => stack.send(project, { title, userIds: ['nobody'] });
    await send('A needle');
    await Promise.all(Array.from({ length: 22 }, () => send('Hay')));
    return project;
  }

  test('a broadcast that reached nobody is bad news in every list, and says why and what to do', async () => {
    const project = await stack.newProject();
    for (const status of [403, 403, 410]) (await stack.subscribe(project)).behave({ status });
    await openView(project, '/send');
    await tab.type('Title', 'To everyone');
    await tab.click('button', 'Send to 3 subscribers');
    await tab.click('button', 'Send');
    await tab.expectText('#outcome-title', 'Nobody reached');
    const reason = 'nobody was reached: 2 failed, all because the push service refused the VAPID';
    await tab.expectText('.outcome [data-tone=bad]', reason);
    await tab.expectText('.outcome [data-tone=bad]', 'What to do: The operator checks');
    await tab.click('link', 'Open this notification');
    await tab.expectText('.delivery [data-tone=bad]', reason);
    await stack.send(project, { title: 'To everyone again' });
    for (const list of ['Notifications', 'Overview']) {
      await tab.click('link', list);
      await tab.expectText('.row:nth-child(2)', 'To everyone');
      await tab.expectText('.row:nth-child(2) [data-tone=bad]', 'Nobody reached');
      await tab.expectText('.row:nth-child(2)', 'Delivered0 0 %Removed1 Failed2');
    }
    await tab.expectText('.history tbody:last-child [data-tone=bad]', 'Nobody reached');
  });

  test('a search finds what is loaded at once, and older notifications on request', async () => {
    await openView(await sendNeedle(), '/notifications');
    await tab.expectText('.row', 'Hay');
    await tab.type('Search titles, texts and ids', 'needle');
    await tab.expectText('#searched', '0 found in 20 notifications since ');
    await tab.click('button', 'Search older ones');
    await tab.expectText('#searched', '1 found in 23 notifications: all that are stored.');
    await tab.expectText('.row', 'A needle');
    await tab.screenshot('search');
  });

  test('a search that is stopped keeps what it has found so far', async () => {
    const project = await sendNeedle();
    await openView(project, '/notifications');
    await tab.expectText('.row', 'Hay');
    await tab.type('Search titles, texts and ids', 'needle');
    const release = await holdOlderPages();
    await tab.click('button', 'Search older ones');
    await tab.expectText('#searched', 'Searching. 0 found in 20 notifications since ');
    await tab.click('button', 'Stop');
    await tab.expectText('form', 'Search older ones');
    await release();
    await tab.expectText('#searched', '0 found in 20 notifications since ');
    await tab.click('button', 'Search older ones');
    await tab.expectText('#searched', '1 found in 23 notifications');
  });

  test('the id of a notification that is not loaded opens it', async () => {
    const project = await stack.newProject();
    const { id } = await stack.send(stack.demo, { title: 'Of another project' });
    await openView(project, '/notifications');
    await tab.type('Search titles, texts and ids', id);
    await tab.click('link', 'Open the notification with this id');
    await tab.expectText('[role=alert]', 'no notification with this id');
  });

  test('the address of a notification that does not exist says so', async () => {
    const project = await stack.newProject();
    await openView(project, '/notifications/no-uuid');
    await tab.expectText('[role=alert]', 'no notification with this id');
  });
});
