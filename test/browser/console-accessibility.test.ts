import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { until } from '../fixtures/until.ts';
import { accessibilityFaults } from './fixtures/accessibility-faults.ts';
import { describeWith } from './fixtures/browsers.ts';
import { keyboardOf } from './fixtures/keyboard.ts';
import { replacePushManager } from './fixtures/push-manager.ts';
import { type BrowserStack, startBrowserStack, type TestProject } from './fixtures/stack.ts';
import { storedText } from './fixtures/stored-text.ts';

const project = '#/projects/demo';

describeWith('chromium', 'the console without a mouse, and for all eyes', (executablePath) => {
  let stack: BrowserStack;
  let browser: Browser;
  let page: Page;
  let other: TestProject;

  beforeAll(async () => {
    stack = await startBrowserStack();
    other = await stack.newProject();
    browser = await puppeteer.launch({
      executablePath,
      headless: true,
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
    await browser
      .defaultBrowserContext()
      .overridePermissions(stack.baseUrl, [
        'notifications',
        'clipboard-read',
        'clipboard-sanitized-write',
      ]);
    await (await browser.newPage()).goto(stack.consoleAddress);
  });

  beforeEach(async () => {
    page = await browser.newPage();
  });

  afterEach(() => page.close());

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  /** Opens a place of the page, and waits until it is complete. */
  async function open(fragment: string, complete = 'h1') {
    // Another query loads the page again, where only the fragment differs.
    await page.goto(`${stack.baseUrl}/?${Math.random()}${fragment}`);
    await page.waitForSelector(complete);
  }

  const textOf = (selector: string) =>
    page.$eval(selector, (element) => element.textContent.replace(/\s+/g, ' ').trim());
  const expectText = (selector: string, text: string) =>
    until(`"${text}" in ${selector}`, async () =>
      (await textOf(selector).catch(() => ''))?.includes(text),
    );

  test('axe finds no violation in any view, light and dark, on phones and large screens', async () => {
    const faults: string[] = [];
    const check = async (view: string) => {
      const found = await accessibilityFaults(page);
      faults.push(...found.map((fault) => `${view}: ${fault}`));
    };
    await open('#/projects');
    await check('projects');
    await open(`#/projects/${other.projectId}`);
    await page.click('[type=submit]');
    await page.waitForSelector('[aria-invalid]');
    await check('project-without-key');
    await open(project, '.meters');
    await check('overview-empty');
    await open(`${project}/notifications`, '.empty');
    await check('notifications-empty');

    await stack.subscribe(stack.demo, 'ada');
    (await stack.subscribe(stack.demo, 'gone')).behave({ status: 410 });
    await stack.send(stack.demo, { title: 'To one who is gone', userIds: ['gone'] });
    const refused = await stack.subscribe(stack.demo);
    refused.behave({ status: 403 });
    await stack.send(stack.demo, { title: 'To nobody', userIds: ['nobody'] });
    const { id } = await stack.send(stack.demo, {
      title: 'Doors open at eight',
      body: 'Your seat is 14C.',
      url: 'https://shop.example/',
    });
    await stack.send(stack.demo, { title: 'Doors are open' });
    await open(project, '.history');
    await page.click('.history summary');
    await check('overview');
    await open(`${project}/notifications`, '.row');
    await check('notifications');
    await page.type('#search', 'eight');
    await expectText('#searched', '1 found in 4 notifications');
    await check('notifications-found');
    await open(`${project}/notifications/${id}`, '.failures');
    await check('notification');

    await open(`${project}/users`);
    await page.type('#user-id', 'ada');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.result strong');
    await check('user');
    await page.click('.danger');
    await page.waitForSelector('dialog[open]');
    await check('user-removal');
    await open(`${project}/browser`, '#subscribe');
    await check('browser');

    await open(`${project}/send`, '#send');
    await check('send');
    for (const group of await page.$$('summary')) await group.click();
    await page.click('#add-action');
    await page.type('#send-image', `${stack.baseUrl}/missing.png`);
    await expectText('.preview-remarks', 'This page could not load the image.');
    await page.type('#send-ttl', '-');
    await page.click('#send');
    await page.waitForSelector('[aria-invalid]');
    await check('send-with-errors');
    await open(`${project}/send`, '#send');
    await page.click('#send');
    await page.waitForSelector('dialog[open] .danger');
    await page.click('dialog[open] .danger');
    await page.waitForSelector('.outcome .failures');
    await check('send-with-outcome');
    refused.behave({});
    expect(faults).toEqual([]);
  });

  test('on a phone, links to views and tabs are in one row, with nothing cut off', async () => {
    await page.setViewport({ width: 390, height: 844 });
    const expectOneRow = async (selector: string, count: number) => {
      const rows = await page.$$eval(selector, (elements) =>
        elements.map((element) => {
          const { top, right } = element.getBoundingClientRect();
          const isCut = right > innerWidth || element.scrollWidth > element.clientWidth;
          return `${top}${isCut ? ', cut' : ''}`;
        }),
      );
      expect(rows).toHaveLength(count);
      expect(new Set(rows).size).toBe(1);
      expect(rows[0]).not.toContain('cut');
    };
    for (const view of ['', '/send', '/notifications', '/users', '/browser']) {
      await open(`${project}${view}`);
      await expectOneRow('nav a', 5);
    }
    await open(`${project}/send`, '#send');
    await expectOneRow('[aria-label=Platform] [role=tab]', 4);
    await expectOneRow('.send-code [role=tab]', 5);
  });

  test('what the service refuses is said at the field, with its label', async () => {
    const error = {
      code: 'invalid_request',
      message: '"ttl" is refused. There is more; see "issues".',
      issues: [
        { path: 'ttl', message: 'is refused' },
        { path: 'actions', message: 'needs "tag"' },
      ],
    };
    await open(`${project}/send`, '#send');
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (request.method() !== 'POST') return request.continue();
      return request.respond({ status: 400, body: JSON.stringify({ error }) });
    });
    await page.click('#send');
    await page.click('dialog .danger');
    await expectText('#send-ttl-error', 'Time to live (seconds) is refused.');
    await expectText('#send-actions-error', 'Buttons needs “Tag”.');
    expect(await textOf('form [role=status]')).toBe('2 fields to correct.');
    expect(await textOf('form [role=alert]')).toBe('');
    expect(await page.$$eval('details[open]', (groups) => groups.length)).toBe(2);
  });

  test('a message to a channel keeps it when it is edited, and asks before it goes out', async () => {
    const { id } = await stack.send(stack.demo, { title: 'News', channels: ['nobody'] });
    await open(`${project}/notifications/${id}`, 'dl');
    await page.click('a[href$="/send"]:not(nav a)');
    await expectText('.audience', 'Everyone who matches “Only some of them”');
    await expectText('summary', 'Only some of them1 set');
    await page.click('#send');
    await expectText('dialog[open]', 'Send to every subscriber that matches?');
  });

  test('the preview stays in view on a large screen, and covers no field on a phone', async () => {
    const edges = (selector: string) =>
      page.$eval(selector, (element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return { top, bottom };
      });
    await page.setViewport({ width: 1280, height: 800 });
    await open(`${project}/send`, '#send');
    for (const group of await page.$$('summary')) await group.click();
    await page.$eval('#send', (button) => button.scrollIntoView({ block: 'end' }));
    const { top, bottom } = await edges('[aria-labelledby=preview-title]');
    expect(top).toBeGreaterThanOrEqual(0);
    expect(bottom).toBeLessThanOrEqual(800);
    await page.setViewport({ width: 390, height: 844 });
    for (const block of ['start', 'end'] as const) {
      await page.$eval('form', (form, to) => form.scrollIntoView({ block: to }), block);
      expect((await edges('[aria-labelledby=preview-title]')).top).toBeGreaterThan(
        (await edges('form')).bottom,
      );
    }
  });

  test('ten tasks are done with the keyboard alone, and the secret keys are stored nowhere', async () => {
    const requestedUrls: string[] = [];
    page.on('request', (request) => requestedUrls.push(request.url()));
    const browsers = await replacePushManager(page, stack, stack.demo);
    const keyboard = keyboardOf(page);
    const { focus, press, fill, expectFocus, expectView } = keyboard;
    const openView = async (name: string) => {
      await focus(name, 'backward');
      await press('Enter');
      await expectView(name);
    };
    await page.setViewport({ width: 1280, height: 800 });
    await open(project, '.meters');

    // Switch the project, and back.
    await focus(/Switch$/);
    await press('Enter');
    await expectView('Projects');
    await focus(other.projectId);
    await press('Enter');
    await expectFocus('Secret key');
    await fill(other.secretKey);
    await press('Enter');
    await expectView('Overview');
    expect(new URL(page.url()).hash).toBe(`#/projects/${other.projectId}`);
    await focus(/Switch$/, 'backward');
    await press('Enter');
    await expectView('Projects');
    await focus('demo');
    await press('Enter');
    await expectView('Overview');

    // Subscribe this browser.
    await openView('This browser');
    await focus('User id');
    await fill('grace');
    await focus('Subscribe');
    await press('Enter');
    await expectFocus('Unsubscribe');
    const expectSubscriptions = (count: number) =>
      until(`${count} subscriptions`, async () => {
        const all = await stack.subscriptions(stack.demo);
        return all.filter(({ userId }) => userId === 'grace').length === count;
      });
    await expectSubscriptions(1);

    // Send to everyone, with an option that is invalid at first.
    await openView('Send');
    await focus('Title');
    await fill('To everyone');
    await focus(/^Display/);
    await press('Space');
    await focus('App badge');
    await fill('x');
    await press('Enter');
    await expectFocus('App badge');
    await expectText('#send-appBadge-error', 'App badge must be');
    await fill('12');
    await press('Enter');
    await expectFocus('Cancel');
    await press('Tab');
    await press('Enter');
    await expectFocus('Sent');
    const [grace] = browsers;
    const { notification } = JSON.parse((await grace!.nextMessage()).text);
    expect(notification).toMatchObject({ title: 'To everyone', app_badge: 12 });

    // Open the notification, and read its funnel. What arrives after the counts pushes a focused link off the screen.
    await expectText('[data-count=received]', 'Simulated browsers received');
    await focus('Open this notification');
    await press('Enter');
    await expectView('To everyone');
    await grace!.show();
    await grace!.click();
    await expectText('[data-step=Shown] .funnel-count', '1');
    await expectText('[data-step=Clicked] .funnel-count', '1');

    // Page through the list.
    const newer = Array.from({ length: 20 }, () => ({ title: 'Newer', userIds: ['nobody'] }));
    await Promise.all(newer.map((notification) => stack.send(stack.demo, notification)));
    await openView('Notifications');
    // Rows that arrive later push a focused link below them off the screen.
    await expectText('main', 'Load older notifications');
    await focus('Load older notifications');
    await press('Enter');
    await expectFocus('To everyone');

    // Choose a platform of the preview, and a language of the code; copy it.
    await openView('Send');
    await focus('Chrome');
    await press('ArrowRight');
    await expectFocus('Firefox');
    await expectText('.preview', 'Firefox on Windows');
    expect(await textOf('.preview-title')).toBe('To everyone');
    await focus('curl');
    await press('ArrowRight');
    await expectFocus('Node.js');
    await focus('Copy');
    await press('Enter');
    await expectFocus('Copied');
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain("title: 'To everyone'");
    expect(copied).toContain("from 'carillon/server'");

    // Send to one user.
    await focus('Title', 'backward');
    await fill('To Grace');
    await focus(/^Everyone/);
    await press('ArrowDown');
    await focus('User ids');
    await fill('grace');
    await focus('Send to 1 user id');
    await press('Space');
    await expectFocus('Sent');
    await expectText('.outcome', 'Delivered to 1 of 1');
    expect((await grace!.nextMessage()).text).toContain('To Grace');

    // Unsubscribe this browser, and subscribe it again.
    await openView('This browser');
    await focus('Unsubscribe');
    await press('Enter');
    await expectFocus('Subscribe');
    await expectSubscriptions(0);
    await press('Enter');
    await expectFocus('Unsubscribe');
    await expectSubscriptions(1);

    // Look up a user, and remove it: not on Escape.
    await openView('Users');
    await focus('User id');
    await fill('grace');
    await press('Enter');
    await expectText('.result', 'grace has 1 subscription');
    await focus(/^Remove all/);
    await press('Enter');
    await expectFocus('Cancel');
    await press('Escape');
    await expectFocus(/^Remove all/);
    await press('Enter');
    await expectFocus('Cancel');
    await focus('Remove');
    await press('Enter');
    await expectFocus('User id');
    await expectSubscriptions(0);

    const stored = await storedText(page);
    // The SDK has stored the user id: what is stored was found.
    expect(stored).toContain('grace');
    for (const text of [stored, ...requestedUrls]) {
      expect(text).not.toContain(stack.demo.secretKey);
      expect(text).not.toContain(other.secretKey);
    }
  });
});
