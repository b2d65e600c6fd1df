import { mkdirSync, readFileSync } from 'node:fs';
import type { Browser, ElementHandle, Page } from 'puppeteer-core';
import { type BellTexts, english } from '../../sdk/bell/texts.ts';
import type { CarillonClient, PushState } from '../../sdk/client/carillon.ts';
import { until } from '../fixtures/until.ts';
import { axeViolations } from './fixtures/axe-violations.ts';
import { describeWith } from './fixtures/browsers.ts';
import { launchChromium } from './fixtures/chromium.ts';
import { looksBesideHostileStyle } from './fixtures/hostile-style.ts';
import { describeWithSdk, type SdkSession } from './fixtures/sdk-session.ts';
import { type Site, startSite } from './fixtures/site.ts';
import { followLinks } from './fixtures/site-page.ts';

/** Declared by the page's script. */
declare const push: CarillonClient;

/** Folder for a screenshot of each state. */
const screenshots = '.carillon/screenshots';

const applicationServerKey =
  'BNbxGYNMhEIi9rgmgS4zEbQ0jVmC0MxrHcVwdkqGfNnuFqrHbkqUb3eRjX8UBnKMYBQWCzgYDTjRkCgLlIDtMTc';

const bell = '.floating >>> button[aria-expanded]';
const panel = '.floating >>> [role=dialog]';
const toggle = '.floating >>> [role=switch]';
const channels = { news: 'News', offers: 'Special offers and everything else that costs less' };
const noMotion = { name: 'prefers-reduced-motion', value: 'reduce' };

const status = '.floating >>> [role=status]';
const prompt = '.floating >>> section button';

/** What a page adds to have the bell. @param options without `parent`: an expression in its place. */
const bellScript = (options: object = { channels }, parent = 'undefined') =>
  `<script type="module">
    import { showBell } from '/carillon-bell.mjs';
    showBell(push, { ...${JSON.stringify(options)}, parent: ${parent} });
  </script>`;

/** What a page has besides a bell: something that can have the focus. */
const surroundings = `<html lang="en"><meta name="viewport" content="width=device-width"><style>:root { color-scheme: light dark }</style>
  <main><h1>A site</h1><input id="before" aria-label="Search"></main>`;

/** The name of what has the focus: of an element in the shadow tree, or of the page. */
const focusedIn = (page: Page) =>
  page.evaluate(() => {
    const { activeElement } = document;
    const inner = activeElement?.shadowRoot?.activeElement ?? activeElement;
    return inner?.getAttribute('role') ?? inner?.getAttribute('aria-label') ?? inner?.localName;
  });
const isOpen = (page: Page) => page.$eval(panel, (element) => element.checkVisibility());
const isExpanded = (page: Page) => page.$eval(bell, (button) => button.ariaExpanded);
const textIn = (page: Page, selector: string) =>
  page.$eval(selector, (element) => element.textContent);

/** What each browser does with the panel of a bell that floats. */
function checkPanel(openPage: (script: string) => Promise<Page>): void {
  test('a click opens one panel; Escape, the bell and a click outside close it', async () => {
    const page = await openPage(bellScript());
    expect([await isOpen(page), await isExpanded(page)]).toEqual([false, 'false']);
    const ways: readonly (readonly [way: string, close: () => Promise<unknown>])[] = [
      ['Escape', () => page.keyboard.press('Escape')],
      ['the bell', () => page.click(bell)],
      ['a click outside', () => page.mouse.click(5, 300)],
    ];
    for (const [way, close] of ways) {
      await page.click(bell);
      expect([way, await isOpen(page), await isExpanded(page)]).toEqual([way, true, 'true']);
      expect(await focusedIn(page)).toBe('dialog');
      await close();
      expect([way, await isOpen(page), await isExpanded(page)]).toEqual([way, false, 'false']);
      expect(await focusedIn(page)).toBe('Notifications: off');
    }
  });

  test('what is focused outside keeps the focus, and the panel does not cover it', async () => {
    const page = await openPage(bellScript());
    await page.click(bell);
    await page.click('#before');
    expect([await isOpen(page), await focusedIn(page)]).toEqual([false, 'Search']);
    await page.click(bell);
    await page.keyboard.down('Shift');
    await page.keyboard.press('Tab');
    expect([await isOpen(page), await focusedIn(page)]).toEqual([true, 'Notifications: off']);
    await page.keyboard.press('Tab');
    expect([await isOpen(page), await focusedIn(page)]).toEqual([false, 'Search']);
    await page.keyboard.up('Shift');
  });

  test('while notifications are off, the channels are hidden, and one line says why', async () => {
    const page = await openPage(bellScript());
    await page.click(bell);
    const visible = await page.$eval(panel, (element) =>
      [...element.querySelectorAll('label, p')]
        .filter((part) => part.checkVisibility())
        .map(({ textContent }) => textContent),
    );
    expect(visible).toEqual(['Notifications', english.offHere, english.turnOn]);
  });

  test('it links the page about privacy, if the site has one', async () => {
    const page = await openPage(bellScript({ channels, privacyUrl: '/privacy' }));
    await page.click(bell);
    const link = await page.waitForSelector('.floating >>> a', { visible: true });
    expect(await link!.evaluate(({ textContent }) => textContent)).toBe(english.privacy);
    await Promise.all([page.waitForNavigation(), link!.click()]);
    expect(new URL(page.url()).pathname).toBe('/privacy');
  });

  test('without channels, nothing speaks of them', async () => {
    const page = await openPage(bellScript({}));
    await page.click(bell);
    expect(await textIn(page, panel)).toBe(`Notifications${english.offHere}`);
    expect(await page.$('.floating >>> a')).toBeNull();
  });

  test('the styles of a site change nothing of the bell and its panel', async () => {
    const page = await openPage(bellScript());
    await page.click(bell);
    const { before, after } = await looksBesideHostileStyle(page, '.floating');
    expect(before.length).toBeGreaterThan(8);
    expect(after).toEqual(before);
  });

  test.each(['left', 'center', 'right'])(
    'at 320 px, the panel of a bell at the %s of the page is in the page',
    async (place) => {
      const script = bellScript({ channels }, "document.getElementById('place')");
      const page = await openPage(
        `<div style="display: flex; justify-content: ${place}"><div id="place"></div></div>${script}`,
      );
      await page.setViewport({ width: 320, height: 640 });
      await page.click('#place >>> button[aria-expanded]');
      const { left, right } = await page.$eval('#place >>> [role=dialog]', (element) =>
        element.getBoundingClientRect().toJSON(),
      );
      expect(left).toBeGreaterThanOrEqual(0);
      expect(right).toBeLessThanOrEqual(320);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    },
  );

  test('every text can be translated, and one that is missing is English', async () => {
    const { saved, ...some } = english;
    const translated = Object.entries(some).map(([name, text]) => [name, `«${text}»`]);
    const texts: Partial<BellTexts> = Object.fromEntries(translated);
    const page = await openPage(bellScript({ channels: { news: '«News»' }, texts }));
    await page.click(bell);
    const found = await page.$eval('.floating', (host) => {
      const walker = document.createTreeWalker(host.shadowRoot!, NodeFilter.SHOW_TEXT);
      const labelled = [...host.shadowRoot!.querySelectorAll('[aria-label]')];
      const found = labelled.map((element) => element.getAttribute('aria-label')!);
      while (walker.nextNode()) found.push(walker.currentNode.textContent!);
      return found;
    });
    expect(found).toEqual([
      ...['«Notifications»: «off»', '«Notifications»', '«Notifications»', '«Off in this browser»'],
      ...['«What to receive»', '«News»', '«Turn on to choose what to receive.»'],
    ]);
  });
}

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
    // For a missing page without text, Chromium shows one of its own, with an address of its own.
    site.files.set('/privacy', '<h1>Privacy</h1>');
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
    await page.waitForSelector('.floating', { visible: true });
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
    const violations = await axeViolations(page);
    expect(violations).toEqual([]);
  }

  checkPanel(async (script) => {
    site.files.set('/panel', site.files.get('/')! + surroundings + script);
    await page.goto(`${site.origin}/panel`);
    await setPermission('prompt');
    await page.waitForSelector(':is(.floating, #place > div)', { visible: true });
    return page;
  });

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
      await expectAccessible(`blocked-${scheme}`);
    },
  );

  test('it works with the keyboard, in large text, without motion', async () => {
    await page.setViewport({ width: 390, height: 844 });
    await open('/bell');
    await setPermission('denied');
    const size = () => page.$eval(bell, (button) => button.getBoundingClientRect().toJSON());
    expect(await size()).toMatchObject({ width: 44, height: 44 });
    // What a person chooses in the settings of the browser.
    const session = await page.createCDPSession();
    await session.send('Page.setFontSizes', { fontSizes: { standard: 32 } });
    await until('a large bell', async () => (await size()).height >= 88);

    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    const outline = await page.$eval(bell, (button) => getComputedStyle(button).outlineWidth);
    expect(outline).toBe('3px');
    await page.keyboard.press('Enter');
    expect(await statusText()).toContain('Notifications are blocked');
    expect(await page.$eval(panel, (element) => getComputedStyle(element).animationName)).toBe(
      'none',
    );
    const { bottom, left, right, top } = await page.$eval(panel, (element) =>
      element.getBoundingClientRect().toJSON(),
    );
    expect([left >= 0, top >= 0, right <= 390, bottom <= 844]).toEqual([true, true, true, true]);
    await expectAccessible('large-text');
    expect(await page.$eval(toggle, (input) => input.matches(':disabled'))).toBe(true);
    await page.keyboard.press('Escape');
    expect(await isOpen(page)).toBe(false);
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
    const isVisible = () =>
      page.$$eval('.floating', (all) => all.map((one) => one.checkVisibility()));
    expect(await isVisible()).toEqual([false]);
    await page.screenshot({ path: `${screenshots}/bell-no-push.png` });
    // Also one that the page places.
    site.files.set(
      '/placed',
      `${site.files.get('/')!}<div id="place"></div>${bellScript({}, 'place')}`,
    );
    await page.goto(`${site.origin}/placed`);
    await until('the bell', () => page.$('#place > div'));
    await page.evaluate('push.state()');
    expect(await page.$eval('#place > div', (host) => host.checkVisibility())).toBe(false);
  });

  describe('after a link, there is one bell, and one prompt, that work', () => {
    const routers = {
      Turbo: readFileSync('node_modules/@hotwired/turbo/dist/turbo.es2017-umd.js', 'utf8'),
      htmx: readFileSync('node_modules/htmx.org/dist/htmx.min.js', 'utf8'),
      // What Astro's router does with the body of the next page. It does not run the scripts that both have again.
      'a router as Astro’s': `addEventListener('click', async (event) => {
        const { href } = event.target;
        if (!href) return;
        event.preventDefault();
        const text = await (await fetch(href)).text();
        history.pushState(null, '', href);
        document.body.replaceWith(new DOMParser().parseFromString(text, 'text/html').body);
      }, true);`,
    };
    const prompts = `<script type="module">
      import { showPrompt } from '/carillon-bell.mjs';
      showPrompt(push);
    </script>`;

    test.each(
      Object.entries(routers).flatMap(([name, library]) => [
        [`${name}, added in the head`, library, bellScript() + prompts, ''] as const,
        [`${name}, added in the body`, library, '', bellScript() + prompts] as const,
      ]),
    )('%s', async (_, library, head, body) => {
      const pageOf = (title: string, next: string) => `<!doctype html><html lang="en"><head>
        <title>${title}</title><script src="/router.js"></script>
        ${site.files.get('/')!.replace(/.*<\/title>/s, '')}${head}</head>
        <body hx-boost="true"><h1>${title}</h1><a id="next" href="${next}">Next</a>${body}</body></html>`;
      site.files.set('/router.js', library);
      site.files.set('/one', pageOf('One', '/two'));
      site.files.set('/two', pageOf('Two', '/one'));
      await page.goto(`${site.origin}/one`);
      await setPermission('prompt');
      await followLinks(page, bell);
      await page.waitForSelector(prompt, { visible: true });
      expect(await page.$$eval('.floating', (all) => all.length)).toBe(2);
      await page.click(bell);
      expect(await isOpen(page)).toBe(true);
      await page.goBack().catch(() => {});
      await page.waitForSelector(bell, { visible: true });
    });

    test('and none once it has been removed', async () => {
      const script = bellScript().replace('showBell(', 'self.removeBell = showBell(');
      site.files.set('/removed', `${site.files.get('/')!}<body>${script}</body>`);
      await page.goto(`${site.origin}/removed`);
      await page.waitForSelector('.floating', { visible: true });
      await page.evaluate(
        'removeBell(); document.body.replaceWith(document.createElement("body"))',
      );
      expect(await page.$('.floating')).toBeNull();
    });
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

describeWithSdk('the bell in Firefox', (session) => {
  async function openBell(script: string) {
    const { project, site } = await session.newSite();
    site.files.set('/', site.files.get('/')! + surroundings + script);
    const { page } = await session.open(`${site.origin}/`);
    await page.waitForSelector(':is(.floating, #place > div)', { visible: true });
    await page.setViewport({ width: 320, height: 640 });
    return { project, site, page };
  }

  const stored = async (project: Parameters<SdkSession['stack']['subscriptions']>[0]) =>
    (await session.stack.subscriptions(project)).map(({ channels = [] }) => [...channels].sort());

  checkPanel(async (script) => (await openBell(script)).page);

  test('its switch subscribes and unsubscribes, and keeps the channels while it is off', async () => {
    const { project, page } = await openBell(bellScript());
    const box = (name: string) => page.$(`.floating >>> [value=${name}]`) as Promise<ElementHandle>;
    const isChecked = async (handle: Promise<ElementHandle | null>) =>
      (await handle)!.evaluate((input) => (input as HTMLInputElement).checked);
    const says = (text: string) =>
      until(`"${text}"`, async () => (await textIn(page, status)) === text);
    await page.click(bell);
    await page.keyboard.press('Tab');
    await page.keyboard.press(' ');
    await says(english.onHere);
    expect(await stored(project)).toEqual([[]]);
    expect(await page.$eval(bell, (button) => button.ariaLabel)).toBe('Notifications: on');
    await (await box('news')).click();
    await says('Saved.');
    // A channel without a check box is kept. By the end of state(), the bell knows of it.
    await page.evaluate(() => push.setChannels(['news', 'other']).then(() => push.state()));
    for (const expected of [
      ['news', 'offers', 'other'],
      ['news', 'other'],
    ]) {
      await (await box('offers')).press(' ');
      await until(String(expected), async () => String(await stored(project)) === String(expected));
    }

    await page.click(toggle);
    await says(english.offHere);
    await until('the end', async () => (await stored(project)).length === 0);
    await page.reload();
    await page.waitForSelector('.floating', { visible: true });
    await page.click(bell);
    await page.click(toggle);
    await says(english.onHere);
    expect(await stored(project)).toEqual([['news', 'other']]);
    expect([await isChecked(box('news')), await isChecked(box('offers'))]).toEqual([true, false]);
    expect(await isOpen(page)).toBe(true);

    // `unsubscribe()` forgets what was chosen.
    await page.evaluate(() => push.setChannels(['offers']));
    await page.evaluate(() => push.unsubscribe());
    await until('a switch that is off', async () => !(await isChecked(page.$(toggle))));
    await page.click(toggle);
    await says(english.onHere);
    expect(await stored(project)).toEqual([[]]);
  });

  test('the prompt links the page about privacy', async () => {
    const { site } = await session.newSite();
    const prompts = `<script type="module">
      import { showPrompt } from '/carillon-bell.mjs';
      showPrompt(push, { privacyUrl: '/privacy' });
    </script>`;
    site.files.set('/', site.files.get('/')! + surroundings + prompts);
    await session.firefox.setPermission(site.origin, 'default');
    const { page } = await session.open(`${site.origin}/`);
    const link = await page.waitForSelector('.floating >>> section a', { visible: true });
    expect(await axeViolations(page, '.floating')).toEqual([]);
    await Promise.all([page.waitForNavigation(), link!.click()]);
    expect(new URL(page.url()).pathname).toBe('/privacy');
  });

  test('where the page may store nothing, the switch works', async () => {
    const { project, page } = await openBell(bellScript());
    await page.evaluateOnNewDocument(() => {
      Object.defineProperty(window, 'localStorage', {
        get() {
          throw new DOMException('denied', 'SecurityError');
        },
      });
    });
    await page.reload();
    await page.waitForSelector('.floating', { visible: true });
    await page.click(bell);
    for (const [state, count] of [
      [english.onHere, 1],
      [english.offHere, 0],
    ] as const) {
      await page.click(toggle);
      await until(state, async () => (await textIn(page, status)) === state);
      await until(`${count}`, async () => (await stored(project)).length === count);
    }
  });

  test('what fails is said, and the switch shows what is', async () => {
    const { project, page } = await openBell(bellScript());
    await page.evaluate(() => push.subscribe());
    await page.click(bell);
    const isOn = () => page.$eval(toggle, (input) => (input as HTMLInputElement).checked);
    await until('on', isOn);
    await session.stack.registry.remove(project.projectId);
    await page.click('.floating >>> [value=news]');
    await until('the failure', async () => (await textIn(page, status)) === english.failed);
    expect(
      await page.$eval('.floating >>> [value=news]', (box) => (box as HTMLInputElement).checked),
    ).toBe(false);
    await page.click(toggle);
    await until('off', async () => (await textIn(page, status)) === english.offHere);
    await page.click(toggle);
    await until('the failure', async () => (await textIn(page, status)) === english.failed);
    expect(await isOn()).toBe(false);
  });

  test.each([
    ['no response', 'fetch', english.noConnection],
    ['no push service', 'PushManager.prototype.subscribe', english.noPushService],
    ['a service worker that fails', 'ServiceWorkerContainer.prototype.register', english.failed],
  ])('of %s, it says what to do', async (_, broken, text) => {
    const { page } = await openBell(bellScript());
    await page.evaluate(`${broken} = async () => { throw new Error('by the test'); }; 0`);
    await page.click(bell);
    await page.click(toggle);
    await until(text, async () => (await textIn(page, status)) === text);
  });

  test.each(['light', 'dark'] as const)('its panel is accessible in %s colours', async (scheme) => {
    mkdirSync(screenshots, { recursive: true });
    await session.firefox.preferColorScheme(scheme);
    const { page } = await openBell(bellScript({ channels, privacyUrl: '/privacy' }));
    await page.screenshot({ path: `${screenshots}/bell-${scheme}.png` });
    for (const state of ['off', 'on']) {
      if (state === 'on') await page.evaluate(() => push.subscribe({ channels: ['news'] }));
      await page.click(bell);
      await until(state, async () => {
        return (await page.$eval(bell, (button) => button.ariaLabel))?.endsWith(state);
      });
      await page.$eval('.floating', (host) => {
        for (const animation of host.shadowRoot!.getAnimations()) animation.finish();
      });
      await page.screenshot({ path: `${screenshots}/bell-panel-${state}-${scheme}.png` });
      const violations = await axeViolations(page, '.floating');
      expect([state, ...violations]).toEqual([state]);
      await page.keyboard.press('Escape');
    }
  });
});
