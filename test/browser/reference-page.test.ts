import type { Browser } from 'puppeteer-core';
import { describeWith } from './fixtures/browsers.ts';
import { launchChromium } from './fixtures/chromium.ts';
import { type BrowserStack, startBrowserStack } from './fixtures/stack.ts';

describeWith('chromium', 'the API reference at /docs', (executablePath) => {
  let browser: Browser;
  let stack: BrowserStack;

  beforeAll(async () => {
    stack = await startBrowserStack();
    browser = await launchChromium(executablePath);
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  test('names the address of this stack, and loads nothing that its policy blocks', async () => {
    const page = await browser.newPage();
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
