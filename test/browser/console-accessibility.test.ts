import type { Browser, Page } from 'puppeteer-core';
import { until } from '../fixtures/until.ts';
import { accessibilityFaults } from './fixtures/accessibility-faults.ts';
import { describeWith } from './fixtures/browsers.ts';
import { launchChromium } from './fixtures/chromium.ts';
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
    browser = await launchChromium(executablePath);
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
    await page.goto(`${stack.baseUrl}/console?${Math.random()}${fragment}`);
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
    await open(`#/projects/${other.projectId}`);
    await page.click('[type=submit]');
    await page.waitForSelector('[aria-invalid=true]');
    await check('sign-in');
    await open(project, '#caps');
    await check('overview-empty');

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
    await open(project, '.chart');
    await check('overview');
    await open(`${project}/notifications`, 'tbody tr');
    await page.type('[type=search]', 'eight');
    await expectText('#searched', '1 found in 4 notifications');
    await check('notifications');
    await open(`${project}/notifications/${id}`, '[data-count=failed]');
    await check('notification');

    await open(`${project}/users`);
    await page.type('main input', 'ada');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#user strong');
    await check('user');
    await page.click('main button:not([type=submit])');
    await page.waitForSelector('[role=dialog]');
    await check('user-removal');
    await open(`${project}/local`, '#subscribe');
    await check('local');

    await open(`${project}/send`, '#send');
    await page.click('#more');
    await page.waitForSelector('#send-ttl', { visible: true });
    await page.click('#add-action');
    await page.type('#send-ttl', '-');
    await page.click('#send');
    await page.waitForSelector('[aria-invalid=true]');
    await check('send-with-errors');
    expect(faults).toEqual([]);
  });

  test('with texts at 200 %, no view has to be scrolled sideways', async () => {
    await page.setViewport({ width: 1280, height: 900 });
    for (const view of ['', '/send', '/notifications', '/users', '/local']) {
      await open(`${project}${view}`, 'main h1');
      const width = await page.evaluate(() => {
        document.documentElement.style.fontSize = '200%';
        return document.documentElement.scrollWidth;
      });
      expect([view, width]).toEqual([view, 1280]);
    }
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
    await page.waitForSelector('[role=dialog] button:last-of-type');
    await page.click('[role=dialog] button:last-of-type');
    await expectText('#send-ttl-error', 'Time to live (seconds) is refused.');
    await expectText('#send-actions', 'Buttons needs “Tag”.');
    expect(await textOf('#issues')).toBe('2 fields to correct.');
    expect(await page.$('form [role=alert]')).toBeNull();
  });

  test('the tasks of a day are done with the keyboard alone, and the secret keys are stored nowhere', async () => {
    const requestedUrls: string[] = [];
    page.on('request', (request) => requestedUrls.push(request.url()));
    const browsers = await replacePushManager(page, stack, stack.demo);
    const { focus, press, fill, expectFocus, expectView } = keyboardOf(page);
    const openView = async (name: string) => {
      await focus(name, 'backward');
      await press('Enter');
      await expectView(name);
    };
    await page.setViewport({ width: 1280, height: 800 });

    // Sign in to another project, and out.
    await open(`#/projects/${other.projectId}`);
    await focus('Key');
    await fill(other.secretKey);
    await press('Enter');
    await expectText('h1', 'Overview');
    await focus('Sign out');
    await press('Enter');
    await expectText('h1', 'Carillon console');

    // Subscribe this browser.
    await open(project, '#caps');
    await focus('Local stack');
    await press('Enter');
    await expectView('Local stack');
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
    await focus(/^More options/);
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
    await expectView('To everyone');
    const [grace] = browsers;
    const { notification } = JSON.parse((await grace!.nextMessage()).text);
    expect(notification).toMatchObject({ title: 'To everyone', app_badge: 12 });
    await grace!.show();
    await grace!.click();
    await expectText('[data-count=Clicked]', '1');

    // Choose a platform of the preview, and a language of the code; copy it.
    await focus('Send again');
    await press('Enter');
    await expectView('Send');
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
    await expectFocus('Cancel');
    await press('Tab');
    await press('Enter');
    await expectView('To Grace');
    await expectText('#verdict', 'Delivered to 1 of 1');
    expect((await grace!.nextMessage()).text).toContain('To Grace');

    // Look up a user, and remove it: not on Escape.
    await openView('Users');
    await focus('User id');
    await fill('grace');
    await press('Enter');
    await expectText('#user', 'grace has 1 subscription');
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
