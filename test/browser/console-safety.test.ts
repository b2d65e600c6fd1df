import { randomBytes } from 'node:crypto';
import type { Browser, Page } from 'puppeteer-core';
import { until } from '../fixtures/until.ts';
import { describeWith } from './fixtures/browsers.ts';
import { launchChromium } from './fixtures/chromium.ts';
import { type ConsolePage, openConsole } from './fixtures/console-page.ts';
import { type BrowserStack, startBrowserStack, type TestProject } from './fixtures/stack.ts';

const at = '2026-11-01T12:00:00.000Z';

/** Not the field of the sign-in, which is there until the project is read. */
const userIdField = '[aria-label="User id"]';

/** Text that runs as code wherever it becomes markup, an attribute or an address. */
const hostile = `"'><img src=x onerror=alert(1)><script>alert(2)</script>{{x}}javascript:alert(3)`;

describeWith('chromium', 'the console and the API reference', (executablePath) => {
  let stack: BrowserStack;
  let browser: Browser;
  let tab: ConsolePage;
  let page: Page;
  /** Dialogs, errors and violations of the page's policy. */
  let incidents: string[];
  let requested: string[];

  beforeAll(async () => {
    stack = await startBrowserStack();
    browser = await launchChromium(executablePath);
  });

  beforeEach(async () => {
    incidents = [];
    requested = [];
    tab = await openConsole(browser, `${stack.baseUrl}/console`);
    ({ page } = tab);
    page.on('dialog', async (dialog) => {
      incidents.push(dialog.message());
      await dialog.dismiss();
    });
    page.on('pageerror', (error) => incidents.push(String(error)));
    page.on('console', (message) => {
      if (/Content Security Policy|Refused/.test(message.text())) incidents.push(message.text());
    });
    page.on('request', (request) => requested.push(request.url()));
  });

  afterEach(() => page.close());

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  const member = ({ projectId }: TestProject, name: string, role: 'sender' | 'viewer') =>
    stack.registry.invite(projectId, { name, role, random: randomBytes });

  async function go(project: TestProject, view: string, complete: string) {
    await tab.go(`#/projects/${project.projectId}${view}`);
    await page.waitForSelector(complete);
  }

  /** Changes what the page reads of a route, as another version or a broken proxy could. */
  async function answerWith(path: RegExp, change: (body: Record<string, unknown>) => object) {
    await page.setRequestInterception(true);
    page.on('request', async (request) => {
      if (!path.test(request.url()) || request.method() !== 'GET') return request.continue();
      const { authorization } = request.headers();
      const response = await fetch(request.url(), { headers: { authorization: authorization! } });
      const body = change((await response.json()) as Record<string, unknown>);
      return request.respond({ status: response.status, body: JSON.stringify(body) });
    });
  }

  test('hostile texts are shown as texts in every view, and nothing of them is loaded or run', async () => {
    const project = await stack.newProject('hostile');
    const id = `<b>${hostile}`.slice(0, 200);
    for (let sent = 0; sent < 2; sent += 1) await stack.subscribe(project, id);
    const content = {
      title: hostile,
      body: hostile,
      url: 'https://evil.example/"><script>alert(4)</script>',
      icon: 'https://evil.invalid/x.png?"><script>',
      tag: hostile.slice(0, 60),
      actions: [{ action: '<i>', title: '<img src=x onerror=alert(5)>' }],
      data: { '</script><script>alert(6)</script>': hostile },
    };
    // Without placeholders: those need recipients.
    const body = JSON.parse(JSON.stringify(content).replaceAll('{{x}}', ''));
    await stack.send(project, body);
    const { id: notificationId } = await stack.send(project, body);
    await answerWith(/\/api\/v1\/projects\/hostile/, (response) => ({
      ...response,
      ...('sample' in response && {
        name: hostile,
        access: { role: 'sender', name: hostile },
        sample: {
          subscribers: 2,
          seenWithinDays: { 7: 2 },
          channels: { [hostile]: 1 },
          locales: { [hostile]: 1 },
        },
      }),
      ...('subscriptions' in response && {
        devices: [{ id: hostile, pushService: hostile, createdAt: at, updatedAt: at }],
      }),
      ...('audience' in response && {
        sentBy: hostile,
        audience: { channels: [hostile] },
        failures: { dropped: 1 },
      }),
      ...(Array.isArray(response.notifications) && {
        notifications: response.notifications.map((one) => ({ ...one, sentBy: hostile })),
      }),
    }));

    await tab.openView(project);
    await tab.expectText('body', hostile);
    await go(project, '/notifications', 'tbody tr');
    await tab.expectText('body', 'Sent by');
    await go(project, `/notifications/${notificationId}`, '#funnel');
    await tab.expectText('body', `by ${hostile}`);
    expect(requested.filter((url) => url.includes('evil'))).toEqual([]);
    await tab.click('button', 'Send again');
    await tab.click('summary', 'Options');
    await tab.expectText('body', 'evil.example');
    // No channel has such a name.
    await page.click('aside [type=submit]');
    await tab.expectText('body', '1 field to correct.');
    await go(project, '/audience', userIdField);
    await page.type(userIdField, id);
    await page.keyboard.press('Enter');
    await tab.expectText('body', `${id} has 2 browsers.`);
    await go(project, '', '[data-figure]');

    expect(incidents).toEqual([]);
    const others = requested.filter(
      (url) => !url.startsWith(stack.baseUrl) && !url.startsWith('data:'),
    );
    // The icon of the preview.
    expect(others.filter((url) => !url.startsWith('https://evil.invalid/x.png'))).toEqual([]);
    expect(await page.$$('body script, [onerror], [src="x"]')).toEqual([]);
  });

  test('a viewer is offered nothing to send, to stop or to remove, and cannot send by hand', async () => {
    const project = await stack.newProject('viewers');
    const { key } = await member(project, 'Vera', 'viewer');
    // Longer than a push and its retries take: an owner could stop it.
    (await stack.subscribe(project)).behave({ stall: true });
    const id = await stack.startSend(project, { title: 'Seen by viewers' });
    const viewer = { ...project, secretKey: key };
    await tab.openView(viewer);
    await tab.expectText('body', 'Vera');
    await tab.expectText('body', 'Can view');
    const offered = () => page.$$eval('a, button', (all) => all.map((one) => one.textContent));
    const forbidden = /New|\bSend\b|\bStop\b|Find|Remove/;
    expect((await offered()).join()).not.toMatch(forbidden);
    await go(project, `/notifications/${id}`, '#verdict');
    await tab.expectText('body', 'delivered so far');
    expect((await offered()).join()).not.toMatch(forbidden);
    await go(project, '/audience', '[data-figure]');
    expect((await offered()).join()).not.toMatch(forbidden);
    await go(project, '/send', 'h1');
    await until('the overview', async () => {
      return (await page.$eval('h1', (heading) => heading.textContent)) === 'Overview';
    });
    await expect(stack.send(viewer, { title: 'By hand' })).rejects.toThrow('not_permitted');
  });

  test('a sender sends under the own name, and removes no user', async () => {
    const project = await stack.newProject('senders');
    await stack.subscribe(project, 'ada');
    const { key } = await member(project, 'Sam', 'sender');
    await tab.openView({ ...project, secretKey: key });
    await go(project, '/send', '#send-title');
    await page.type('#send-title', 'From Sam');
    await tab.click('button', 'Send to 1');
    await tab.confirm();
    await tab.expectText('body', 'by Sam');
    await tab.expectText('#verdict', '1 of 1 delivered.');
    await go(project, '/audience', userIdField);
    await page.type(userIdField, 'ada');
    await page.keyboard.press('Enter');
    await tab.expectText('body', 'ada has 1 browser.');
    expect(await page.$eval('body', (body) => body.textContent)).not.toContain('Remove');
  });

  test('a test goes to one user id only, which is asked for each time, and its outcome is said', async () => {
    const project = await stack.newProject();
    const [ada, other] = [await stack.subscribe(project, 'ada'), await stack.subscribe(project)];
    await tab.openView(project, '/send');
    await tab.type('Title', 'A test');
    await tab.click('button', 'Send a test to me');
    await tab.type('Your user id', 'nobody');
    await tab.confirm();
    await tab.expectText('dialog[open]', 'It goes to 0 browsers with this user id.');
    await tab.confirm();
    await tab.expectText('aside .test-result', 'This user is not subscribed.');
    await tab.click('button', 'Send a test to me');
    await tab.type('Your user id', 'ada');
    await tab.confirm();
    await tab.expectText('dialog[open]', 'Send a test to “ada”?');
    await tab.expectText('dialog[open]', 'It goes to 1 browser with this user id.');
    expect(ada.messages).toEqual([]);
    await tab.confirm();
    await tab.expectText('aside .test-result', 'Test to ada: 1 of 1 delivered.');
    expect((await ada.nextMessage()).text).toContain('A test');
    await tab.type('Title', 'Another test');
    await tab.click('button', 'Send a test to me');
    // Nothing goes to the last one without a question.
    expect(
      await page.$eval('dialog [name=userId]', (input) => (input as HTMLInputElement).value),
    ).toBe('ada');
    expect(ada.messages).toHaveLength(1);
    await tab.confirm();
    expect((await ada.nextMessage()).text).toContain('Another test');
    expect(other.messages).toEqual([]);
  });

  /** Looks up ada, who has two browsers. @returns her project. */
  async function findAda(projectId: string) {
    const project = await stack.newProject(projectId);
    for (let devices = 0; devices < 2; devices += 1) await stack.subscribe(project, 'ada');
    await tab.openView(project);
    await go(project, '/audience', userIdField);
    await page.type(userIdField, 'ada');
    await page.keyboard.press('Enter');
    await tab.expectText('body', 'ada has 2 browsers.');
    return project;
  }

  test('one device of a user is removed, after a question', async () => {
    const project = await findAda('devices');
    await tab.click('button', 'Remove browser 1');
    await tab.expectText('dialog[open]', 'Remove 1 browser of ada?');
    await tab.confirm();
    await tab.expectText('#user', 'Removed 1 browser of ada.');
    await tab.expectText('#user', 'ada has 1 browser.');
    expect(await stack.subscriptions(project)).toHaveLength(1);
  });

  test('after a lost response, the devices are those that are left', async () => {
    await findAda('lost');
    await page.setRequestInterception(true);
    page.on('request', async (request) => {
      if (request.method() !== 'DELETE') return request.continue();
      const { authorization } = request.headers();
      await fetch(request.url(), {
        method: 'DELETE',
        headers: { authorization: authorization! },
      });
      return request.abort();
    });
    await tab.click('button', 'Remove browser 1');
    await tab.confirm();
    await tab.expectText('main [role=alert]', 'No response from Carillon.');
    await tab.expectText('#user', 'ada has 1 browser.');
  });

  test('a view that cannot be drawn says so, and the others can be opened', async () => {
    const project = await stack.newProject('broken');
    await tab.openView(project);
    await answerWith(/\/broken\/notifications\?/, () => ({ notifications: [{}] }));
    await go(project, '/notifications', 'main [role=alert]');
    await go(project, '/settings', '[data-limit]');
  });

  test('the API reference names the address of this stack, and loads nothing that its policy blocks', async () => {
    const problems: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('requestfailed', (request) => problems.push(request.url()));
    await page.goto(`${stack.baseUrl}/docs`, { waitUntil: 'networkidle0' });
    await page.waitForSelector(`::-p-text(${stack.baseUrl})`);
    expect(problems).toEqual([]);
  });
});
