import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { pathOf, routes } from '../../contract/routes.ts';
import { until } from '../fixtures/until.ts';
import { describeWith } from './fixtures/browsers.ts';
import { type BrowserStack, startBrowserStack, type TestProject } from './fixtures/stack.ts';

const at = '2026-11-01T12:00:00.000Z';

/** Text that runs as code wherever it becomes markup, an attribute or an address. */
const hostile = `"'><img src=x onerror=alert(1)><script>alert(2)</script>{{x}}javascript:alert(3)`;

describeWith('chromium', 'the console and what it must not do', (executablePath) => {
  let stack: BrowserStack;
  let browser: Browser;
  let page: Page;
  /** Dialogs, errors and violations of the page's policy. */
  let incidents: string[];
  let requested: string[];

  beforeAll(async () => {
    stack = await startBrowserStack();
    browser = await puppeteer.launch({
      executablePath,
      headless: true,
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
  });

  beforeEach(async () => {
    incidents = [];
    requested = [];
    page = await browser.newPage();
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

  async function signIn({ projectId, secretKey }: TestProject) {
    await page.goto(`${stack.baseUrl}/console?${Math.random()}#/projects/${projectId}`);
    await page.waitForSelector('[name=password]');
    await page.type('[name=password]', secretKey);
    await page.click('[type=submit]');
    await page.waitForSelector('#caps');
  }

  async function go(project: TestProject, view: string, complete: string) {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#/projects/${project.projectId}${view}`);
    await page.waitForSelector(complete);
  }

  const mainText = () => page.$eval('body', (body) => body.textContent);
  const expectText = (text: string) =>
    until(`"${text}"`, async () => (await mainText()).includes(text)).catch(async (error) => {
      throw new Error(`${error.message} It is: ${await mainText()}`);
    });

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
        sample: { subscribers: 2, seenWithinDays: { 7: 2 }, channels: { [hostile]: 1 } },
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

    await signIn(project);
    await expectText(hostile);
    await go(project, '/notifications', 'tbody tr');
    await expectText('Sent by');
    await go(project, `/notifications/${notificationId}`, '#funnel');
    await expectText(`by ${hostile}`);
    await page.click('a[href$="/send"]:not(nav a)');
    await page.waitForSelector('#send');
    await page.click('#more');
    await expectText('evil.example');
    // No channel has such a name.
    await page.click('#send');
    await expectText('1 field to correct.');
    await go(project, '/users', 'main input');
    await page.type('main input', id);
    await page.keyboard.press('Enter');
    await expectText(`${id} has 2 subscriptions.`);
    await go(project, '', '#caps');

    expect(incidents).toEqual([]);
    const others = requested.filter(
      (url) => !url.startsWith(stack.baseUrl) && !url.startsWith('data:'),
    );
    // The icon of the preview.
    expect(others.filter((url) => !url.startsWith('https://evil.invalid/x.png'))).toEqual([]);
    expect(await page.$$('body script, [onerror], [src="x"]')).toEqual([]);
  });

  test('a key of a viewer is offered nothing to send, to stop or to remove', async () => {
    const project = await stack.newProject('viewers');
    const { id } = await stack.send(project, { title: 'Seen by viewers' });
    await answerWith(/\/api\/v1\/projects\/viewers(\?|$)/, (response) => ({
      ...response,
      access: { role: 'viewer', name: 'Vera' },
    }));
    await pretendToSend(id);
    await signIn(project);
    await expectText('Vera');
    await expectText('viewer');
    const offered = () => page.$$eval('a, button', (all) => all.map((one) => one.textContent));
    expect((await offered()).join()).not.toMatch(/Send|Users|Remove/);
    await go(project, `/notifications/${id}`, '#funnel, #verdict');
    await expectText('Seen by viewers');
    expect((await offered()).join()).not.toMatch(/Send|Stop|Users|Remove/);
    for (const view of ['/send', '/users']) {
      await page.evaluate((hash) => {
        location.hash = hash;
      }, `#/projects/viewers${view}`);
      await until(
        'the overview',
        async () => (await page.$eval('h1', (h) => h.textContent)) === 'Overview',
      );
    }
  });

  /** While it is being sent, an owner could stop it. */
  async function pretendToSend(id: string) {
    const path = pathOf(routes.getNotification, { projectId: 'viewers', notificationId: id });
    await page.evaluateOnNewDocument((wanted) => {
      const original = window.fetch;
      window.fetch = async (input, init) => {
        const response = await original(input, init);
        if (!String(input).includes(wanted)) return response;
        const body = await response.json();
        return new Response(JSON.stringify({ ...body, status: 'sending' }));
      };
    }, path);
  }

  test('a key of a sender sends, but removes no user', async () => {
    const project = await stack.newProject('senders');
    await stack.subscribe(project, 'ada');
    await answerWith(/\/api\/v1\/projects\/senders(\?|$)/, (response) => ({
      ...response,
      access: { role: 'sender', name: 'Sam' },
    }));
    await signIn(project);
    await expectText('Send a notification');
    await go(project, '/users', 'main input');
    await page.type('main input', 'ada');
    await page.keyboard.press('Enter');
    await expectText('ada has 1 subscription.');
    expect(await mainText()).not.toContain('Remove');
  });

  test('one device of a user is removed, after a question', async () => {
    const project = await stack.newProject('devices');
    await stack.subscribe(project, 'ada');
    const device = { id: 'd/1', pushService: 'Firefox', createdAt: at, updatedAt: at };
    await page.setRequestInterception(true);
    const removals: string[] = [];
    page.on('request', async (request) => {
      if (!request.url().includes('/users?')) return request.continue();
      if (request.method() === 'DELETE') removals.push(request.url());
      const devices = removals.length === 0 ? [device] : [];
      const body =
        request.method() === 'DELETE'
          ? { removed: 1 }
          : { userId: 'ada', subscriptions: devices.length, devices };
      return request.respond({ status: 200, body: JSON.stringify(body) });
    });
    await signIn(project);
    await go(project, '/users', 'main input');
    await page.type('main input', 'ada');
    await page.keyboard.press('Enter');
    await expectText('Firefox');
    await page.click('[aria-label="Remove device 1"]');
    await expectText('Remove this device of ada?');
    await page.click('[role=dialog] button:last-of-type');
    await expectText('Removed one device of ada.');
    await expectText('ada has 0 subscriptions.');
    const path = pathOf(routes.removeUser, { projectId: 'devices' });
    expect(removals).toEqual([`${stack.baseUrl}${path}?userId=ada&device=d%2F1`]);
  });
});
