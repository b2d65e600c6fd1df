import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Page } from 'puppeteer-core';
import { until } from '../fixtures/until.ts';
import { describeWith } from './fixtures/browsers.ts';
import { type Firefox, launchFirefox } from './fixtures/firefox.ts';
import { recordWaits } from './fixtures/record-waits.ts';
import { startSilentServer } from './fixtures/silent-server.ts';
import { type BrowserStack, startBrowserStack } from './fixtures/stack.ts';

declare const Carillon: typeof import('../../sdk/client/carillon.ts');

/** Folder for a screenshot of each step. The README shows one of them. */
const screenshots = '.carillon/screenshots';

describeWith('firefox', 'the playground in Firefox', (executablePath) => {
  let stack: BrowserStack;
  let firefox: Firefox;
  let page: Page;

  beforeAll(async () => {
    mkdirSync(screenshots, { recursive: true });
    stack = await startBrowserStack();
    firefox = await launchFirefox({ executablePath, pushService: stack.pushService.origin });
  });

  beforeEach(async () => {
    page = await firefox.browser.newPage();
    await page.setViewport({ width: 1200, height: 900 });
    await openPage();
  });

  afterEach(async () => {
    // The next test starts without a subscription, even if this one failed.
    const { baseUrl, demo } = stack;
    await openPage();
    await page.evaluate((options) => Carillon.init(options).unsubscribe(), { baseUrl, ...demo });
    await page.close();
    await firefox.closeNotifications();
  });

  afterAll(async () => {
    await firefox?.close();
    await stack?.stop();
  });

  /** Opens the page and waits until its buttons work. */
  async function openPage(query = '', tab = page) {
    await tab.goto(`${stack.baseUrl}/${query}`);
    await tab.waitForSelector('#send-button:enabled');
  }

  const text = (selector: string) => page.$eval(selector, (element) => element.textContent);
  const takeScreenshot = (name: string) =>
    page.screenshot({ path: `${screenshots}/${name}.png`, fullPage: true });

  async function expectStatus(expected: string) {
    await until(`the status "${expected}"`, async () => (await text('#status')) === expected);
  }

  async function expectCount(name: string, expected: number) {
    const selector = `.notification [data-name=${name}] dd`;
    await until(`${name} = ${expected}`, async () => {
      const found = await page.$(selector);
      return found !== null && (await text(selector)) === String(expected);
    });
  }

  test('links to the reference page, which describes the routes', async () => {
    const navigation = page.waitForNavigation();
    await page.evaluate(() => {
      document.querySelector<HTMLAnchorElement>('a[href="/docs"]')!.click();
    });
    await navigation;
    expect(page.url()).toBe(`${stack.baseUrl}/docs`);
    await page.goto(`${stack.baseUrl}/docs#/servers/send`);
    await page.waitForSelector('text/Idempotency-Key');
    await takeScreenshot('reference');
  });

  test('the page subscribes, sends, shows the counts of shown and clicked, and unsubscribes', async () => {
    await expectStatus('Not subscribed');
    await takeScreenshot('1-not-subscribed');
    await page.type('#user-id', 'ada');
    await page.click('#subscribe');
    await expectStatus('Subscribed');
    expect(await stack.subscriptions(stack.demo)).toMatchObject([{ userId: 'ada' }]);
    expect(await text('#endpoint')).toContain(stack.pushService.origin);
    await takeScreenshot('2-subscribed');

    await page.click('#send-button');
    await expectCount('delivered', 1);
    await expectCount('shown', 1);
    await takeScreenshot('3-shown');

    await firefox.clickNotification('The bells are ringing');
    await expectCount('clicked', 1);
    await takeScreenshot('4-clicked');
    const target = `${stack.baseUrl}/?opened`;
    const tab = await until('the tab with the URL', async () =>
      (await firefox.browser.pages()).find((candidate) => candidate.url() === target),
    );
    await tab.close();

    await page.setViewport({ width: 390, height: 844 });
    await takeScreenshot('5-phone');
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    await firefox.preferColorScheme('dark');
    await until('the dark colour scheme', () =>
      page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches),
    );
    await takeScreenshot('6-phone-dark');

    await page.setViewport({ width: 1200, height: 900 });
    await takeScreenshot('7-dark');
    await firefox.preferColorScheme('light');
    await page.click('#unsubscribe');
    await expectStatus('Not subscribed');
    expect(await stack.subscriptions(stack.demo)).toEqual([]);
    await page.click('#send-button');
    await expectCount('attempted', 0);
    await takeScreenshot('8-unsubscribed');
  });

  test('a targeted send from the page reaches only its user ids', async () => {
    await page.type('#user-id', 'grace');
    await page.click('#subscribe');
    await expectStatus('Subscribed');
    await page.click('[name=to][value=users]');
    await page.type('[name=userIds]', 'ada');
    await page.click('#send-button');
    await expectCount('attempted', 0);
    await page.$eval('[name=userIds]', (input) => {
      (input as HTMLInputElement).value = 'ada, grace';
    });
    await page.click('#send-button');
    await expectCount('shown', 1);
  });

  test('"Change user" after a reload keeps the stored user id', async () => {
    await page.type('#user-id', 'ada');
    await page.click('#subscribe');
    await expectStatus('Subscribed');
    await openPage();
    await expectStatus('Subscribed');
    await page.click('#identify');
    await page.waitForSelector('#identify:enabled');
    expect(await stack.subscriptions(stack.demo)).toMatchObject([{ userId: 'ada' }]);
  });

  test('the status is updated after the SDK subscribes the browser again', async () => {
    await page.click('#subscribe');
    await expectStatus('Subscribed');
    const { projectId, applicationServerKey } = await stack.newProject();
    await openPage(`?${new URLSearchParams({ projectId, applicationServerKey })}`);
    await expectStatus('Subscribed');
  });

  test('the row of a send without subscribers shows "No subscriber matched."', async () => {
    await page.click('#send-button');
    await expectCount('attempted', 0);
    expect(await text('.notification:not(:has(.nobody[hidden])) .nobody')).toBe(
      'No subscriber matched.',
    );
    await page.click('#subscribe');
    await expectStatus('Subscribed');
    await page.click('#send-button');
    await expectCount('attempted', 1);
    expect(await page.$('.notification:first-child .nobody[hidden]')).not.toBeNull();
  });

  test('subscribe shows that it waits for the push service, then for Carillon', async () => {
    const waits = await recordWaits(page);
    await page.click('#subscribe');
    await expectStatus('Subscribed');
    expect(await waits()).toEqual([
      'Waiting for the browser’s push service, 30 s at most.',
      'Waiting for the service, 15 s at most.',
    ]);
    expect(await text('#browser-lead')).toBe('This browser receives what the project sends.');
  });

  test('subscribe shows that it waits for the permission prompt', async () => {
    const silent = await startSilentServer();
    const asking = await launchFirefox({
      executablePath,
      pushService: silent.origin,
      permission: 'default',
    });
    try {
      const tab = await asking.browser.newPage();
      await openPage('', tab);
      const waits = await recordWaits(tab);
      await tab.click('#subscribe');
      await asking.allowNotifications();
      await until('the second text', async () => (await waits()).length === 2);
      expect(await waits()).toEqual([
        'Waiting for your decision: allow or block notifications.',
        'Waiting for the browser’s push service, 30 s at most.',
      ]);
    } finally {
      await asking.close();
      await silent.stop();
    }
  });

  test('invalid settings show an error in their form', async () => {
    await page.click('#project summary');
    await page.$eval('[name=baseUrl]', (input) => {
      (input as HTMLInputElement).value = 'localhost:4320';
    });
    await page.click('#settings button');
    await page.waitForSelector('#project[open] .problem:not([hidden])');
    expect(await text('#project-problem')).toContain('such as "https://push.example.com"');
  });

  test('every request is shown as a curl command with a masked secret key, and copies one that works', async () => {
    await page.click('#send-button');
    await expectCount('attempted', 0);
    expect(await text('.call .code')).toBe('201');
    const shown = await text('.call .curl');
    expect(shown).toContain(`curl -X POST '${stack.baseUrl}/api/v1/projects/`);
    expect(shown).not.toContain(stack.demo.secretApiKey);
    // A headless browser's clipboard cannot be read.
    await page.evaluate(() => {
      navigator.clipboard.writeText = async (text) => sessionStorage.setItem('copied', text);
    });
    await page.click('.call .copy');
    const pasted = await until('the copied command', () =>
      page.evaluate(() => sessionStorage.getItem('copied')),
    );
    const { stdout } = await promisify(execFile)('sh', ['-c', `${pasted} --silent`]);
    expect(JSON.parse(stdout)).toMatchObject({ attempted: 0 });
    const response = JSON.parse((await text('.call .response'))!);
    expect(response).toMatchObject({ attempted: 0, delivered: 0, removed: 0, failed: 0 });
  });

  test('no file of the page contains the secret key', async () => {
    for (const path of [
      '/',
      '/playground.js',
      '/playground.css',
      '/carillon.js',
      '/carillon-sw.js',
    ]) {
      const file = await (await fetch(stack.baseUrl + path)).text();
      const keys = [stack.demo.secretApiKey, stack.demo.applicationServerKey];
      expect(keys.filter((key) => file.includes(key))).toEqual([]);
    }
  });
});
