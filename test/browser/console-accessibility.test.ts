import type { Browser, Page } from 'puppeteer-core';
import { until } from '../fixtures/until.ts';
import { describeWith } from './fixtures/browsers.ts';
import { launchChromium } from './fixtures/chromium.ts';
import { type ConsolePage, openConsole } from './fixtures/console-page.ts';
import { keyboardOf } from './fixtures/keyboard.ts';
import { replacePushManager } from './fixtures/push-manager.ts';
import { type BrowserStack, startBrowserStack, type TestProject } from './fixtures/stack.ts';
import { storedText } from './fixtures/stored-text.ts';

const project = '#/projects/demo';

describeWith('chromium', 'the console without a mouse, and for all eyes', (executablePath) => {
  let stack: BrowserStack;
  let browser: Browser;
  let tab: ConsolePage;
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
    tab = await openConsole(browser, `${stack.baseUrl}/console`);
    ({ page } = tab);
  });

  afterEach(() => page.close());

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  test('what the service refuses is said at the field, with its label', async () => {
    const error = {
      code: 'invalid_request',
      message: '"tag" is refused. There is more; see "issues".',
      issues: [
        { path: 'tag', message: 'is refused' },
        { path: 'actions', message: 'needs "tag"' },
      ],
    };
    await stack.subscribe(stack.demo, 'ada');
    await tab.open(`${project}/send`);
    await page.waitForSelector('aside [type=submit]:not([data-disabled])');
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (request.method() !== 'POST') return request.continue();
      return request.respond({ status: 400, body: JSON.stringify({ error }) });
    });
    await page.click('aside [type=submit]');
    await tab.confirm();
    await tab.expectText('#send-tag-error', 'Tag is refused.');
    await tab.expectText('#send-actions', 'Buttons needs “Tag”.');
    await tab.expectText('.issues', '2 fields to correct.');
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
    // Sign in to another project, and out.
    await tab.open(`#/projects/${other.projectId}`);
    await focus('Key');
    await fill(other.secretKey);
    await press('Enter');
    await tab.expectText('h1', 'Overview');
    await focus(/Secret key, Owner/);
    await press('Enter');
    await focus('Sign out');
    await press('Enter');
    await tab.expectText('h1', 'Sign in to Carillon');

    // Subscribe this browser.
    await tab.open(project);
    await page.waitForSelector('main section');
    await focus('Local stack');
    await press('Enter');
    await expectView('Local stack');
    await focus(/^Add a user id/);
    await press('Enter');
    await focus('User id');
    await fill('grace');
    await focus('Subscribe', 'backward');
    await press('Enter');
    await expectFocus('Unsubscribe');
    const expectSubscriptions = (count: number) =>
      until(`${count} subscriptions`, async () => {
        const all = await stack.subscriptions(stack.demo);
        return all.filter(({ userId }) => userId === 'grace').length === count;
      });
    await expectSubscriptions(1);

    // Send to everyone, with an option that is invalid at first.
    await openView('New notification');
    await focus('Title');
    await fill('To everyone');
    await focus(/^Options/);
    await press('Space');
    await focus('App badge');
    await fill('x');
    await press('Enter');
    await expectFocus('App badge');
    await tab.expectText('#send-appBadge-error', 'App badge must be');
    await fill('12');
    await press('Enter');
    await expectFocus('Cancel');
    await press('Tab');
    await tab.expectReady();
    await press('Enter');
    await expectView('To everyone');
    const [grace] = browsers;
    const { notification } = JSON.parse((await grace!.nextMessage()).text);
    expect(notification).toMatchObject({ title: 'To everyone', app_badge: 12 });
    await grace!.show();
    await grace!.click();
    await tab.expectText('[data-count=Clicked]', '1');

    // Choose a platform of the preview, and a language of the code; copy it.
    await focus('Send again');
    await press('Enter');
    await expectView('New notification');
    await focus('Computer');
    await press('ArrowRight');
    await expectFocus('Android');
    await tab.expectText('aside', 'About as Chrome on Android shows it');
    await tab.expectText('.preview-title', 'To everyone');
    await focus(/^Code/);
    await press('Enter');
    await focus('curl');
    await press('ArrowRight');
    await expectFocus('Node.js');
    await focus('Copy the code');
    await press('Enter');
    await expectFocus('Copied');
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain('"title": "To everyone"');
    expect(copied).toContain("from 'carillon/server'");

    // Send to one user.
    await focus('Title', 'backward');
    await fill('To Grace');
    await focus(/^Everyone/);
    await press('ArrowDown', 'ArrowDown');
    await focus('User ids');
    await fill('grace');
    await focus('Send to 1 user');
    await press('Space');
    await expectFocus('Cancel');
    await press('Tab');
    await tab.expectReady();
    await press('Enter');
    await expectView('To Grace');
    await tab.expectText('#verdict', '1 of 1 delivered.');
    expect((await grace!.nextMessage()).text).toContain('To Grace');

    // Look up a user, and remove it: not on Escape.
    await openView('Audience');
    await focus('User id');
    await fill('grace');
    await press('Enter');
    await tab.expectText('#user', 'grace has 1 browser');
    await focus('Remove browser 1');
    await press('Enter');
    await expectFocus('Cancel');
    await press('Escape');
    await expectFocus('Remove browser 1');
    await press('Enter');
    await expectFocus('Cancel');
    await focus('Remove');
    await tab.expectReady();
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
