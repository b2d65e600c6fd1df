import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { promisify } from 'node:util';
import type { Page } from 'puppeteer-core';
import { until } from '../fixtures/until.ts';
import { describeWith } from './fixtures/browsers.ts';
import { type Firefox, launchFirefox } from './fixtures/firefox.ts';
import { type BrowserStack, startBrowserStack } from './fixtures/stack.ts';

declare const Carillon: typeof import('../../sdk/client/carillon.ts');

/** Where each step leaves a picture; one of them stands in the README. */
const pictures = '.carillon/screenshots';

describeWith('firefox', 'the playground in Firefox', (executablePath) => {
  let stack: BrowserStack;
  let firefox: Firefox;
  let page: Page;

  beforeAll(async () => {
    mkdirSync(pictures, { recursive: true });
    stack = await startBrowserStack();
    firefox = await launchFirefox({ executablePath, pushService: stack.pushService.origin });
  });

  beforeEach(async () => {
    page = await firefox.browser.newPage();
    await page.setViewport({ width: 1200, height: 900 });
    await openPage();
  });

  afterEach(async () => {
    // The next test starts without a subscription, whatever happened in this one.
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

  /** Opens the page, and waits until its buttons work. */
  async function openPage(query = '', tab = page) {
    await tab.goto(`${stack.baseUrl}/${query}`);
    await tab.waitForSelector('#send-button:enabled');
  }

  const text = (selector: string) => page.$eval(selector, (element) => element.textContent);
  const picture = (name: string) =>
    page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });

  async function status(expected: string) {
    await until(`the status "${expected}"`, async () => (await text('#status')) === expected);
  }

  async function count(name: string, expected: number) {
    const selector = `.notification [data-name=${name}] dd`;
    await until(`${name} = ${expected}`, async () => {
      const found = await page.$(selector);
      return found !== null && (await text(selector)) === String(expected);
    });
  }

  test('a person subscribes, sends, sees it shown, clicks, and unsubscribes', async () => {
    await status('Not subscribed');
    await picture('1-not-subscribed');
    await page.type('#user-id', 'ada');
    await page.click('#subscribe');
    await status('Subscribed');
    expect(await stack.subscriptions(stack.demo)).toMatchObject([{ userId: 'ada' }]);
    expect(await text('#endpoint')).toContain(stack.pushService.origin);
    await picture('2-subscribed');

    await page.click('#send-button');
    await count('delivered', 1);
    await count('shown', 1);
    await picture('3-shown');

    await firefox.clickNotification('The bells are ringing');
    await count('clicked', 1);
    await picture('4-clicked');
    const target = `${stack.baseUrl}/?opened`;
    const tab = await until('the tab with the URL', async () =>
      (await firefox.browser.pages()).find((candidate) => candidate.url() === target),
    );
    await tab.close();

    await page.setViewport({ width: 390, height: 844 });
    await picture('5-phone');
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    await firefox.preferColorScheme('dark');
    await until('a dark page', () =>
      page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches),
    );
    await picture('6-phone-dark');

    await page.setViewport({ width: 1200, height: 900 });
    await picture('7-dark');
    await firefox.preferColorScheme('light');
    await page.click('#unsubscribe');
    await status('Not subscribed');
    expect(await stack.subscriptions(stack.demo)).toEqual([]);
    await page.click('#send-button');
    await count('attempted', 0);
    await picture('8-unsubscribed');
  });

  test('a targeted send from the page reaches nobody else', async () => {
    await page.type('#user-id', 'grace');
    await page.click('#subscribe');
    await status('Subscribed');
    await page.click('[name=to][value=users]');
    await page.type('[name=userIds]', 'ada');
    await page.click('#send-button');
    await count('attempted', 0);
    await page.$eval('[name=userIds]', (input) => {
      (input as HTMLInputElement).value = 'ada, grace';
    });
    await page.click('#send-button');
    await count('shown', 1);
  });

  test('"Change user" after a reload keeps the user id that is stored', async () => {
    await page.type('#user-id', 'ada');
    await page.click('#subscribe');
    await status('Subscribed');
    await openPage();
    await status('Subscribed');
    await page.click('#identify');
    await page.waitForSelector('#identify:enabled');
    expect(await stack.subscriptions(stack.demo)).toMatchObject([{ userId: 'ada' }]);
  });

  test('the status follows when the SDK subscribes the browser again', async () => {
    await page.click('#subscribe');
    await status('Subscribed');
    const { projectId, applicationServerKey } = await stack.newProject();
    await openPage(`?${new URLSearchParams({ projectId, applicationServerKey })}`);
    await status('Subscribed');
  });

  test('a send that matches no subscriber says so in its row', async () => {
    await page.click('#send-button');
    await count('attempted', 0);
    expect(await text('.notification:not(:has(.nobody[hidden])) .nobody')).toBe(
      'No subscriber matched.',
    );
    await page.click('#subscribe');
    await status('Subscribed');
    await page.click('#send-button');
    await count('attempted', 1);
    expect(await page.$('.notification:first-child .nobody[hidden]')).not.toBeNull();
  });

  test('a subscribe says that it waits for the push service, then for the service', async () => {
    const waits = await recordWaits(page);
    await page.click('#subscribe');
    await status('Subscribed');
    expect(await waits()).toEqual([
      'Waiting for the browser’s push service, 30 s at most.',
      'Waiting for the service, 15 s at most.',
    ]);
    expect(await text('#browser-lead')).toBe('This browser receives what the project sends.');
  });

  test('a subscribe says that it waits for the person', async () => {
    // Reads everything and answers nothing, until the browser closes the connection.
    const silent = createServer((socket) => socket.on('error', () => {}).resume());
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const asking = await launchFirefox({
      executablePath,
      pushService: `http://127.0.0.1:${port}`,
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
        'Waiting for your answer to the browser’s question.',
        'Waiting for the browser’s push service, 30 s at most.',
      ]);
    } finally {
      await asking.close();
      const closed = once(silent, 'close');
      silent.close();
      await closed;
    }
  });

  test('settings that are no project are refused in their form', async () => {
    await page.click('#project summary');
    await page.$eval('[name=baseUrl]', (input) => {
      (input as HTMLInputElement).value = 'localhost:4320';
    });
    await page.click('#settings button');
    await page.waitForSelector('#project[open] .problem:not([hidden])');
    expect(await text('#project-problem')).toContain('such as "https://push.example.com"');
  });

  test('every call is shown as a curl line that works when pasted, its secret covered', async () => {
    await page.click('#send-button');
    await count('attempted', 0);
    expect(await text('.call .code')).toBe('201');
    const shown = await text('.call .curl');
    expect(shown).toContain(`curl -X POST '${stack.baseUrl}/api/v1/projects/`);
    expect(shown).not.toContain(stack.demo.secretApiKey);
    // The clipboard of a headless browser cannot be read.
    await page.evaluate(() => {
      navigator.clipboard.writeText = async (line) => sessionStorage.setItem('copied', line);
    });
    await page.click('.call .copy');
    const pasted = await until('the copied line', () =>
      page.evaluate(() => sessionStorage.getItem('copied')),
    );
    const { stdout } = await promisify(execFile)('sh', ['-c', `${pasted} --silent`]);
    expect(JSON.parse(stdout)).toMatchObject({ attempted: 0 });
    const response = JSON.parse((await text('.call .response'))!);
    expect(response).toMatchObject({ attempted: 0, delivered: 0, removed: 0, failed: 0 });
  });

  test('no file of the page holds the secret key', async () => {
    for (const path of [
      '/',
      '/playground.js',
      '/playground.css',
      '/carillon.js',
      '/carillon-sw.js',
    ]) {
      const file = await (await fetch(stack.baseUrl + path)).text();
      const held = [stack.demo.secretApiKey, stack.demo.applicationServerKey];
      expect(held.filter((key) => file.includes(key))).toEqual([]);
    }
  });
});

/** @returns the texts about waiting that the page has shown since. */
async function recordWaits(page: Page): Promise<() => Promise<readonly string[]>> {
  const recorded = await page.evaluateHandle(() => {
    const texts: string[] = [];
    const observer = new MutationObserver((changes) => {
      for (const { addedNodes } of changes) {
        const [added] = addedNodes;
        if (added?.textContent?.startsWith('Waiting')) texts.push(added.textContent);
      }
    });
    observer.observe(document.getElementById('browser-lead')!, { childList: true });
    return texts;
  });
  return () => recorded.jsonValue();
}
