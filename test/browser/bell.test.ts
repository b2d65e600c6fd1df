import { mkdirSync, readFileSync } from 'node:fs';
import axe from 'axe-core';
import type { Browser, Page } from 'puppeteer-core';
import type { PushState } from '../../sdk/client/carillon.ts';
import { until } from '../fixtures/until.ts';
import { describeWith } from './fixtures/browsers.ts';
import { launchChromium } from './fixtures/chromium.ts';
import { type Site, startSite } from './fixtures/site.ts';

/** Folder for a screenshot of each state. */
const screenshots = '.carillon/screenshots';

const applicationServerKey =
  'BNbxGYNMhEIi9rgmgS4zEbQ0jVmC0MxrHcVwdkqGfNnuFqrHbkqUb3eRjX8UBnKMYBQWCzgYDTjRkCgLlIDtMTc';

const bell = '.floating >>> button[aria-pressed]';
const noMotion = { name: 'prefers-reduced-motion', value: 'reduce' };

const status = '.floating >>> [role=status]';
const prompt = '.floating >>> section button';

/** Runs before the page's scripts: makes Chromium look like a tab on iOS. */
function pretendIos(): void {
  for (const name of ['PushManager', 'Notification']) Reflect.deleteProperty(window, name);
  Object.defineProperty(navigator, 'standalone', { value: false });
}

describeWith('chromium', 'the bell in Chromium', (executablePath) => {
  let browser: Browser;
  let site: Site;
  let page: Page;

  beforeAll(async () => {
    mkdirSync(screenshots, { recursive: true });
    browser = await launchChromium(executablePath);
    const config = { baseUrl: 'http://localhost:1', projectId: 'demo', applicationServerKey };
    site = await startSite(config.baseUrl, config);
    site.files.set('/config.js', `const config = ${JSON.stringify(config)};`);
    site.files.set('/bell', readFileSync('examples/bell/index.html', 'utf8'));
    site.files.set('/ios', readFileSync('examples/ios/index.html', 'utf8'));
    site.files.set(
      '/manifest.webmanifest',
      readFileSync('examples/ios/manifest.webmanifest', 'utf8'),
    );
  });

  beforeEach(async () => {
    // Each context has its own permissions and storage.
    const context = await browser.createBrowserContext();
    page = await context.newPage();
    await page.setViewport({ width: 320, height: 640 });
    await page.emulateMediaFeatures([noMotion]);
  });

  afterEach(() => page.browserContext().close());
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
  });

  const open = async (path: string) => {
    await page.goto(site.origin + path);
    await page.waitForSelector('.floating:not([hidden])');
  };
  /** Waits until the page knows it. */
  async function setPermission(setting: 'prompt' | 'denied') {
    const session = await page.createCDPSession();
    await session.send('Browser.setPermission', {
      permission: { name: 'notifications' },
      setting,
      origin: site.origin,
      browserContextId: page.browserContext().id!,
    });
    const expected = setting === 'prompt' ? 'default' : setting;
    await until(`the permission ${setting}`, async () => {
      const { permission } = (await page.evaluate('push.state()')) as PushState;
      return permission === expected;
    });
  }
  const statusText = () => page.$eval(status, (element) => element.textContent);
  const background = () => page.$eval(bell, (button) => getComputedStyle(button).backgroundColor);

  /** Expects no violation, and takes a screenshot. */
  async function expectAccessible(name: string) {
    await page.screenshot({ path: `${screenshots}/bell-${name}.png` });
    await page.evaluate(axe.source);
    const violations = await page.evaluate(async () => {
      const results = await (window as never as { axe: typeof axe }).axe.run();
      return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`);
    });
    expect(violations).toEqual([]);
  }

  test.each(['light', 'dark'])(
    'it is accessible in %s colours, with its help and its prompt',
    async (scheme) => {
      await page.emulateMediaFeatures([noMotion, { name: 'prefers-color-scheme', value: scheme }]);
      await open('/bell');
      expect(await background()).toBe(scheme === 'dark' ? 'rgb(43, 36, 16)' : 'rgb(255, 248, 225)');
      await page.click('#order');
      await until('the prompt', () => page.$(prompt));
      await expectAccessible(`prompt-${scheme}`);
      await setPermission('denied');
      await until('the end of the prompt', async () => (await page.$(prompt)) === null);
      await page.click(bell);
      expect(await statusText()).toContain('Notifications are blocked');
      await expectAccessible(scheme);
    },
  );

  test('it works with the keyboard, at twice the text size, without motion', async () => {
    await page.setViewport({ width: 390, height: 844 });
    await open('/bell');
    await setPermission('denied');
    const size = () => page.$eval(bell, (button) => button.getBoundingClientRect().toJSON());
    expect(await size()).toMatchObject({ width: 44, height: 44 });
    expect(await page.$eval(bell, (button) => getComputedStyle(button).animationName)).toBe('none');
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
    expect((await size()).height).toBeGreaterThanOrEqual(88);

    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    const outline = await page.$eval(bell, (button) => getComputedStyle(button).outlineWidth);
    expect(outline).toBe('3px');
    await page.keyboard.press('Enter');
    expect(await statusText()).toContain('Notifications are blocked');
    const { bottom, left, right, top } = await page.$eval(status, (element) =>
      element.getBoundingClientRect().toJSON(),
    );
    expect([left >= 0, top >= 0, right <= 390, bottom <= 844]).toEqual([true, true, true, true]);
    await expectAccessible('large-text');
    await page.keyboard.press('Enter');
    expect(await statusText()).toBe('');
  });

  test('in a tab on iOS it tells how to add the site to the home screen', async () => {
    await page.evaluateOnNewDocument(pretendIos);
    await open('/ios');
    await page.click(bell);
    expect(await statusText()).toContain('Add to Home Screen');
    await expectAccessible('ios');
  });

  test('in a browser without push, there is no bell and no prompt', async () => {
    await page.evaluateOnNewDocument(() => Reflect.deleteProperty(window, 'PushManager'));
    await page.goto(`${site.origin}/bell`);
    const { reason } = (await page.evaluate('push.state()')) as PushState;
    expect(reason).toBe('no_push');
    await page.click('#order');
    await until('the end of the prompt', async () => (await page.$$('.floating')).length === 1);
    expect(await page.$('.floating:not([hidden])')).toBeNull();
  });

  test('Chromium accepts the manifest of the example for iOS', async () => {
    await page.goto(`${site.origin}/ios`);
    const session = await page.createCDPSession();
    const { errors, data } = await session.send('Page.getAppManifest');
    expect(errors).toEqual([]);
    const manifest = JSON.parse(data!);
    expect(['standalone', 'fullscreen']).toContain(manifest.display);
    const touchIcon = await page.$eval('[rel=apple-touch-icon]', (link) =>
      link.getAttribute('href'),
    );
    const sources = manifest.icons.map(({ src }: { src: string }) => src);
    expect(sources).toContain(touchIcon);
    for (const { src, sizes } of manifest.icons) {
      const image = readFileSync(`examples/ios${src}`);
      // The header of a PNG has its width and height: RFC 2083, section 4.1.1.
      expect(sizes).toBe(`${image.readUInt32BE(16)}x${image.readUInt32BE(20)}`);
    }
  });
});
