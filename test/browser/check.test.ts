import { mkdirSync } from 'node:fs';
import type { Browser } from 'puppeteer-core';
import { newVapidPair } from '../../admin/vapid-pair.ts';
import type { CheckResult, CheckTexts } from '../../sdk/check/carillon-check.ts';
import { english } from '../../sdk/check/texts.ts';
import { until } from '../fixtures/until.ts';
import { axeViolations } from './fixtures/axe-violations.ts';
import { describeWith } from './fixtures/browsers.ts';
import { launchChromium } from './fixtures/chromium.ts';
import { looksBesideHostileStyle } from './fixtures/hostile-style.ts';
import { endSubscription } from './fixtures/in-page.ts';
import { replacePushManager } from './fixtures/push-manager.ts';
import { describeWithSdk } from './fixtures/sdk-session.ts';
import { type Site, startSite } from './fixtures/site.ts';
import { openSite, type SitePage } from './fixtures/site-page.ts';
import { type BrowserStack, startBrowserStack, type TestProject } from './fixtures/stack.ts';

interface Subscribed {
  readonly project: TestProject;
  readonly site: Site;
  readonly tab: SitePage;
  readonly baseUrl: string;
}

/** Set by {@link importChecks}. */
declare const checks: typeof import('../../sdk/check/carillon-check.ts');

/** A text, because the test's compiler would replace the import. */
const importChecks = "import('/carillon-check.mjs').then((module) => { self.checks = module; })";

/** Folder for a screenshot of each state. */
const screenshots = '.carillon/screenshots';

/** Every text in quotation marks. */
const quoted = Object.fromEntries(
  Object.entries(english).map(([name, text]) => [name, `«${text}»`]),
) as never as CheckTexts;

/** Shows the check on a page 320 px wide. */
async function showIn({ tab, project, baseUrl }: Subscribed, texts: Partial<CheckTexts> = {}) {
  const { projectId, applicationServerKey } = project;
  await tab.page.setViewport({ width: 320, height: 900 });
  await tab.page.evaluate(importChecks);
  await tab.page.evaluate(
    async (options, translated) => {
      document.documentElement.lang = 'en';
      document.documentElement.style.colorScheme = 'light dark';
      document.documentElement.style.background = 'Canvas';
      document.body.innerHTML = '<main><h1>I get no notifications</h1><div></div></main>';
      await checks.showCheck(document.querySelector('main div')!, options, translated);
    },
    { baseUrl, projectId, applicationServerKey },
    texts,
  );
}

const itemsIn = ({ tab }: Subscribed) =>
  tab.page.$$eval('main >>> li', (list) => list.map(({ textContent }) => textContent));

/** Runs the check in a page. @returns the problems, and the names of everything that was checked. */
async function checkIn({ tab, project, baseUrl }: Subscribed, texts: Partial<CheckTexts> = {}) {
  const { projectId, applicationServerKey } = project;
  await tab.page.evaluate(importChecks);
  const options = { baseUrl, projectId, applicationServerKey };
  const results = await tab.page.evaluate(
    (options, texts) => checks.check(options, texts),
    options,
    texts,
  );
  const problems = results.filter(({ level }) => level === 'problem');
  return { names: results.map(({ name }) => name), problems };
}

const problem = (name: CheckResult['name'], message: RegExp) => ({
  name,
  level: 'problem',
  message: expect.stringMatching(message),
});

/** Faults that a page can have, and the problem that names each. Another one blocks notifications. */
const faults: readonly (readonly [
  title: string,
  stage: (subscribed: Subscribed) => Promise<unknown> | unknown,
  expected: ReturnType<typeof problem>,
])[] = [
  [
    'the file of the service worker is missing',
    ({ site }) => site.files.delete('/carillon-sw.js'),
    problem(
      'service worker',
      /\/carillon-sw\.js responds with 404 .*\. Copy carillon-sw\.js there/,
    ),
  ],
  [
    'another service worker has the scope',
    async ({ site, tab }) => {
      site.files.set('/other.js', 'self.oninstall = () => self.skipWaiting();');
      await tab.page.evaluate(() => navigator.serviceWorker.register('/other.js'));
      await until('the other worker', () =>
        tab.page.evaluate(async () => {
          const registration = await navigator.serviceWorker.getRegistration();
          return registration?.active?.scriptURL.endsWith('/other.js');
        }),
      );
    },
    problem('service worker', /other\.js has the scope .*, in place of .*carillon-sw\.js/),
  ],
  [
    'the browser is not subscribed',
    ({ tab }) => tab.page.evaluate(endSubscription),
    problem('subscription', /^This browser is not subscribed/),
  ],
  [
    'the service has not confirmed the subscription',
    ({ tab }) =>
      tab.page.evaluate(
        () =>
          new Promise((resolve, reject) => {
            const deleting = indexedDB.deleteDatabase('carillon');
            deleting.onsuccess = resolve;
            deleting.onerror = reject;
          }),
      ),
    problem('registration', /has not confirmed this subscription\. Reload the page/),
  ],
];

const everything = ['page', 'permission', 'service worker', 'subscription', 'push service'];

/** What each browser finds and shows. */
function checkInBoth(subscribe: () => Promise<Subscribed>): void {
  test('nothing is wrong in a browser that is subscribed', async () => {
    expect(await checkIn(await subscribe())).toEqual({
      names: [...everything, 'registration', 'system'],
      problems: [],
    });
  });

  test('the styles of a site change nothing of its list', async () => {
    const subscribed = await subscribe();
    await showIn(subscribed);
    const { page } = subscribed.tab;
    // The list is as wide as its place on the page.
    await page.$eval('main div', (place) => {
      const style =
        'all: initial !important; display: block !important; width: 300px !important; clear: both !important';
      for (const element of [place, place.parentElement!]) element.setAttribute('style', style);
    });
    const { before, after } = await looksBesideHostileStyle(page, 'main div > div');
    expect(before.length).toBeGreaterThan(10);
    expect(after).toEqual(before);
  });
}

describeWithSdk('the check in Firefox', (session) => {
  const subscribe = async () => ({
    ...(await session.subscribedTab()),
    baseUrl: session.stack.baseUrl,
  });
  checkInBoth(subscribe);

  test.each(faults)('it is found that %s', async (_, stage, expected) => {
    const subscribed = await subscribe();
    await stage(subscribed);
    expect((await checkIn(subscribed)).problems).toEqual([expected]);
    const { problems } = await checkIn(subscribed, quoted);
    expect(problems[0]!.message).toMatch(/^«[^{}]*»$/);
  });

  test('every text of its list can be translated, and one that is missing is English', async () => {
    const subscribed = await subscribe();
    const { allowed, ...some } = quoted;
    await showIn(subscribed, some);
    const [, permission, ...others] = await itemsIn(subscribed);
    expect(permission).toBe('✓ «permission»: Notifications are allowed.');
    for (const text of others) expect(text).toMatch(/^[✓i] «[a-z ]+»: «[^{}]*»$/);
    const { page } = subscribed.tab;
    expect(await page.$eval('main >>> button', (button) => button.textContent)).toBe(quoted.test);
    await page.click('main >>> button');
    const said = () => page.$eval('main >>> [role=status]', (status) => status.textContent);
    await until('the test notification', async () => (await said()) === quoted.testShown);
  });

  test('it is found that the subscription has another key', async () => {
    const subscribed = await subscribe();
    const project = { ...subscribed.project, applicationServerKey: newVapidPair().publicKey };
    expect((await checkIn({ ...subscribed, project })).problems).toEqual([
      problem('subscription', /another application server key/),
    ]);
  });

  test('it is found that notifications are blocked', async () => {
    const subscribed = await subscribe();
    await session.firefox.setPermission(subscribed.site.origin, 'denied');
    await subscribed.tab.page.reload();
    const { names, problems } = await checkIn(subscribed);
    expect(problems[0]).toEqual(
      problem('permission', /^Notifications are blocked\. Select the icon/),
    );
    expect(names).not.toContain('system');
  });

  test('its list has what to do, and a test notification is shown without a push', async () => {
    const subscribed = await subscribe();
    const { tab } = subscribed;
    await showIn(subscribed, { testTitle: 'Ein Versuch' });
    expect(await itemsIn(subscribed)).toContain('✓ permission: Notifications are allowed.');
    await tab.page.click('main >>> button');
    await until('a notification', async () => (await tab.notifications()).length === 1);
    expect((await tab.notifications())[0]).toMatchObject({
      title: 'Ein Versuch',
      body: english.testBody,
    });
  });

  test.each(['light', 'dark'] as const)(
    'its list is accessible in %s colours, and fits 320 px',
    async (scheme) => {
      mkdirSync(screenshots, { recursive: true });
      await session.firefox.preferColorScheme(scheme);
      const subscribed = await subscribe();
      const { page } = subscribed.tab;
      await page.evaluate(endSubscription);
      await showIn(subscribed);
      await page.screenshot({ path: `${screenshots}/check-${scheme}.png` });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
      const violations = await axeViolations(page, 'main');
      expect(violations).toEqual([]);
    },
  );
});

describeWith('chromium', 'the check in Chromium', (executablePath) => {
  let browser: Browser;
  let stack: BrowserStack;
  const sites: Site[] = [];

  beforeAll(async () => {
    stack = await startBrowserStack();
    browser = await launchChromium(executablePath);
  });
  afterAll(async () => {
    await browser?.close();
    for (const site of sites) await site.stop();
    await stack?.stop();
  });

  checkInBoth(async () => {
    const project = await stack.newProject();
    const site = await startSite(stack.baseUrl, project);
    sites.push(site);
    await browser.defaultBrowserContext().overridePermissions(site.origin, ['notifications']);
    const tab = await openSite(browser, 'about:blank');
    await replacePushManager(tab.page, stack, project);
    await tab.page.goto(`${site.origin}/`);
    await tab.subscribe();
    return { project, site, tab, baseUrl: stack.baseUrl };
  });

  test('it is found that notifications are blocked', async () => {
    const project = await stack.newProject();
    const site = await startSite(stack.baseUrl, project);
    sites.push(site);
    const context = await browser.createBrowserContext();
    await context.overridePermissions(site.origin, []);
    const tab = await openSite(context, `${site.origin}/`);
    const { problems } = await checkIn({ project, site, tab, baseUrl: stack.baseUrl });
    expect(problems[0]).toEqual(
      problem('permission', /^Notifications are blocked\. Select the icon/),
    );
    await context.close();
  });
});
