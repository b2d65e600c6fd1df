import { mkdirSync } from 'node:fs';
import { newVapidPair } from '../../admin/vapid-pair.ts';
import type { CarillonOptions, CheckResult, CheckTexts } from '../../sdk/check/carillon-check.ts';
import { english } from '../../sdk/check/texts.ts';
import { until } from '../fixtures/until.ts';
import { axeViolations } from './fixtures/axe-violations.ts';
import { describeWith } from './fixtures/browsers.ts';
import { launchChromium } from './fixtures/chromium.ts';
import { launchFirefox } from './fixtures/firefox.ts';
import { looksBesideHostileStyle } from './fixtures/hostile-style.ts';
import { endSubscription } from './fixtures/in-page.ts';
import { describeInBrowsers, describeWithSdk } from './fixtures/sdk-session.ts';
import { type Site, startSite } from './fixtures/site.ts';
import { openSite, type SitePage } from './fixtures/site-page.ts';
import type { TestProject } from './fixtures/stack.ts';

interface Subscribed {
  readonly project: Pick<TestProject, 'projectId' | 'applicationServerKey'>;
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
async function checkIn(
  { tab, project, baseUrl }: Subscribed,
  texts: Partial<CheckTexts> = {},
  others: Partial<CarillonOptions> = {},
) {
  const { projectId, applicationServerKey } = project;
  await tab.page.evaluate(importChecks);
  const options = { baseUrl, projectId, applicationServerKey, ...others };
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

/** Registers a worker in place of Carillon's. */
async function replaceWorker({ site, tab }: Subscribed): Promise<void> {
  site.files.set('/other.js', 'self.oninstall = () => self.skipWaiting();');
  await tab.page.evaluate(async () => {
    await navigator.serviceWorker.register('/other.js');
  });
  await until('the other worker', () =>
    tab.page.evaluate(async () => {
      const registration = await navigator.serviceWorker.getRegistration();
      return registration?.active?.scriptURL.endsWith('/other.js');
    }),
  );
}

/** Unregisters Carillon's worker: the file of one that is active, and answers, is right. */
async function removeWorker({ tab }: Subscribed): Promise<void> {
  await tab.page.evaluate(async () => {
    await (await navigator.serviceWorker.getRegistration())!.unregister();
  });
  await tab.page.reload();
}

/** Lets a worker that answers unknown files with the site's first page take the place of Carillon's, which it may import. */
async function addAppShell({ site, tab }: Subscribed, imported: string): Promise<void> {
  site.files.set(
    '/carillon-sw.js',
    `${imported}
    self.addEventListener('install', () => self.skipWaiting());
    self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));
    self.addEventListener('fetch', (event) => {
      if (event.request.mode === 'navigate' || !/sw\\.js/.test(event.request.url)) return;
      event.respondWith(new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } }));
    });`,
  );
  await tab.page.evaluate(async () => {
    const registration = (await navigator.serviceWorker.getRegistration())!;
    const isControlled = new Promise((resolve) => {
      navigator.serviceWorker.addEventListener('controllerchange', resolve);
    });
    await registration.update();
    await isControlled;
  });
}

/** Lets a new version of Carillon's worker wait behind one that is not. */
async function letWorkerWait(subscribed: Subscribed): Promise<void> {
  const { site, tab } = subscribed;
  const worker = site.files.get('/carillon-sw.js')!;
  site.files.set('/carillon-sw.js', "self.addEventListener('install', () => self.skipWaiting());");
  const update = (until: 'active' | 'waiting') =>
    tab.page.evaluate(async (place) => {
      const registration = (await navigator.serviceWorker.getRegistration())!;
      const { active } = registration;
      await registration.update();
      while (place === 'waiting' ? !registration.waiting : registration.active === active) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }, until);
  await update('active');
  await tab.page.reload();
  site.files.set('/copy.js', worker);
  site.files.set('/carillon-sw.js', "importScripts('/copy.js');");
  await update('waiting');
}

function redirectWorker(subscribed: Subscribed, origin = ''): Promise<void> {
  const { files, responses } = subscribed.site;
  files.set('/moved.js', files.get('/carillon-sw.js')!);
  responses.set('/carillon-sw.js', (_, response) => {
    response.writeHead(302, { location: `${origin}/moved.js` }).end();
  });
  return removeWorker(subscribed);
}

/** Faults that a page can have, and the problem that names each. Another one blocks notifications. */
const faults: readonly (readonly [
  title: string,
  stage: (subscribed: Subscribed) => Promise<unknown> | unknown,
  expected: ReturnType<typeof problem>,
])[] = [
  [
    'the file of the service worker is missing',
    (subscribed) => {
      subscribed.site.files.delete('/carillon-sw.js');
      return removeWorker(subscribed);
    },
    problem(
      'service worker',
      /^\/carillon-sw\.js responds with 404 .*\. Copy carillon-sw\.js there/,
    ),
  ],
  [
    'the file of the service worker is a page',
    (subscribed) => {
      subscribed.site.responses.set('/carillon-sw.js', (_, response) => {
        response.setHeader('content-type', 'text/html').end('<!doctype html>');
      });
      return removeWorker(subscribed);
    },
    problem('service worker', /^\/carillon-sw\.js responds with 200 text\/html/),
  ],
  [
    'the file of the service worker is redirected, and where to',
    (subscribed) => redirectWorker(subscribed),
    problem('service worker', /a redirect to http:\/\/localhost:\d+\/moved\.js/),
  ],
  [
    'the file of the service worker is redirected to another site',
    (subscribed) =>
      redirectWorker(subscribed, subscribed.site.origin.replace('localhost', '127.0.0.1')),
    problem('service worker', /^\/carillon-sw\.js responds with a redirect\./),
  ],
  [
    'another service worker has the scope',
    replaceWorker,
    problem('service worker', /has the service worker \/other\.js\. Import carillon-sw\.js/),
  ],
  [
    'the service worker is not Carillon’s, though it has its URL',
    (subscribed) => addAppShell(subscribed, ''),
    problem(
      'service worker',
      /the service worker \/carillon-sw\.js\. Import .* or serve it in another folder/,
    ),
  ],
  [
    'a new version of the service worker waits',
    letWorkerWait,
    problem(
      'service worker',
      /does not answer as Carillon's\. A version is not active yet\. Close/,
    ),
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
            deleting.onsuccess = () => resolve(undefined);
            deleting.onerror = reject;
          }),
      ),
    // It has not asked the service.
    problem('registration', /^This browser has no confirmation of http.*\. Reload the page/),
  ],
];

/** What a page can have without harm, and what a page cannot read. */
const harmless: readonly (readonly [
  title: string,
  stage: (subscribed: Subscribed) => Promise<unknown>,
])[] = [
  [
    'the policy of the page forbids it to read its own files',
    async ({ site, tab, baseUrl }) => {
      site.pageHeaders.set('content-security-policy', `connect-src ${baseUrl}`);
      await tab.page.reload();
    },
  ],
  [
    'the worker of the site answers unknown files with its first page',
    async (subscribed) => {
      subscribed.site.files.set('/copy.js', subscribed.site.files.get('/carillon-sw.js')!);
      await addAppShell(subscribed, "importScripts('/copy.js');");
    },
  ],
  [
    'the file is gone, and its worker is active',
    async ({ site }) => {
      site.files.delete('/carillon-sw.js');
    },
  ],
  [
    'the browser does not tell which worker is active at first',
    ({ tab }) =>
      tab.page.evaluate(() => {
        const { prototype } = ServiceWorkerRegistration;
        const { get } = Object.getOwnPropertyDescriptor(prototype, 'active')!;
        let reads = 0;
        Object.defineProperty(prototype, 'active', {
          get() {
            return reads++ < 6 ? null : get!.call(this);
          },
        });
      }),
  ],
  [
    'the browser does not tell its subscription',
    ({ tab }) =>
      tab.page.evaluate(() => {
        PushManager.prototype.getSubscription = () => Promise.reject(new Error('busy'));
      }),
  ],
  [
    'storage cannot be read',
    ({ tab }) =>
      tab.page.evaluate(() => {
        IDBFactory.prototype.open = () => {
          throw new DOMException('denied', 'SecurityError');
        };
      }),
  ],
];

const everything = ['page', 'permission', 'service worker', 'subscription', 'push service'];

describeInBrowsers('the check', (session) => {
  const subscribe = async () => ({
    ...(await session.subscribedTab()),
    baseUrl: session.stack.baseUrl,
  });

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
    expect(before.length).toBeGreaterThan(5);
    expect(after).toEqual(before);
  });

  test.each(faults)('it is found that %s', async (_, stage, expected) => {
    const subscribed = await subscribe();
    await stage(subscribed);
    expect((await checkIn(subscribed)).problems).toEqual([expected]);
    const { problems } = await checkIn(subscribed, quoted);
    expect(problems[0]!.message).toMatch(/^«[^{}]*»$/);
  });

  test.each(harmless)('it reports nothing if %s', async (_, stage) => {
    const subscribed = await subscribe();
    await stage(subscribed);
    expect((await checkIn(subscribed)).problems).toEqual([]);
  });

  test('of a browser that has never subscribed, it says one thing', async () => {
    const { project, site } = await session.newSite();
    const tab = await session.open(`${site.origin}/`);
    const { problems } = await checkIn({ project, site, tab, baseUrl: session.stack.baseUrl });
    expect(problems).toEqual([
      problem('service worker', /has none yet for http.*Subscribe on this site\.$/),
    ]);
  });

  test('it is found that a missing worker may need a header or a policy', async () => {
    const { project, site } = await session.newSite();
    const subscribed = { project, site, baseUrl: session.stack.baseUrl };
    site.files.set('/static/carillon-sw.js', site.files.get('/carillon-sw.js')!);
    const tab = await session.open(`${site.origin}/`);
    const wide = { serviceWorker: '/static/carillon-sw.js', scope: '/' };
    const { problems } = await checkIn({ ...subscribed, tab }, {}, wide);
    expect(problems).toEqual([problem('service worker', /header "Service-Worker-Allowed"/)]);
    site.pageHeaders.set('content-security-policy', "require-trusted-types-for 'script'");
    await tab.page.reload();
    const trusted = await checkIn({ ...subscribed, tab });
    expect(trusted.problems).toEqual([problem('service worker', /Trusted Types.*“carillon”/)]);
  });

  test('its list starts with one sentence, then has the problems, and hides what is right', async () => {
    const subscribed = await subscribe();
    const { page } = subscribed.tab;
    await showIn(subscribed);
    const summary = () => page.$eval('main >>> #sum', ({ textContent }) => textContent);
    const visible = () =>
      page.$$eval('main >>> li', (items) =>
        items.filter((item) => item.checkVisibility()).map(({ textContent }) => textContent),
      );
    const isDisabled = () => page.$eval('main >>> button', (button) => button.matches(':disabled'));
    expect(await summary()).toBe('All is right in this browser.');
    expect(await visible()).toEqual([expect.stringMatching(/^iSystem settings/)]);
    expect(await isDisabled()).toBe(false);
    await page.evaluate(endSubscription);
    await showIn(subscribed);
    expect(await summary()).toBe('Notifications may not arrive: 1 problem.');
    expect((await visible())[0]).toMatch(/^✗SubscriptionThis browser is not subscribed\./);
    expect(await isDisabled()).toBe(true);
    expect(await page.$eval('main >>> [role=status]', ({ textContent }) => textContent)).toBe(
      english.testRefused,
    );
    await page.click('main >>> summary');
    expect((await visible()).length).toBeGreaterThan(4);
  });
});

describeWithSdk('the check in Firefox', (session) => {
  const subscribe = async () => ({
    ...(await session.subscribedTab()),
    baseUrl: session.stack.baseUrl,
  });

  test('every text of its list can be translated, and one that is missing is English', async () => {
    const subscribed = await subscribe();
    const { allowed, ...some } = quoted;
    await showIn(subscribed, some);
    const [advice, page, permission, ...others] = await itemsIn(subscribed);
    expect(permission).toBe('✓«Permission»Notifications are allowed.');
    for (const text of [advice, page, ...others]) {
      expect(text).toMatch(/^[✓i]«[A-Za-z ]+»«[^{}]*»$/);
    }
    const { page: tab } = subscribed.tab;
    const textOf = (selector: string) =>
      tab.$eval(`main >>> ${selector}`, ({ textContent }) => textContent);
    expect(await textOf('#sum')).toBe(quoted.allRight);
    expect(await textOf('summary')).toBe('«Checks passed: 6»');
    expect(await textOf('button')).toBe(quoted.test);
    await tab.click('main >>> button');
    await until('the test notification', async () => {
      return (await textOf('[role=status]')) === quoted.testShown;
    });
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
    expect(await itemsIn(subscribed)).toContain('✓PermissionNotifications are allowed.');
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

/** Settings of browsers that have push, and no connection to a push service. */
const disconnected = {
  'as in LibreWolf and Zen': { 'dom.push.connection.enabled': false },
  'without an address of it': { 'dom.push.serverURL': '' },
};

describeWith('firefox', 'the check in Firefox without a push service', (executablePath) => {
  test.each(Object.entries(disconnected))('%s, it is found', async (_, preferences) => {
    const project = { projectId: 'demo', applicationServerKey: newVapidPair().publicKey };
    const baseUrl = 'http://localhost:1';
    const site = await startSite(baseUrl, project);
    const { browser } = await launchFirefox({
      ...{ executablePath, pushService: baseUrl, preferences },
    });
    try {
      const tab = await openSite(browser, `${site.origin}/`);
      expect(await tab.subscribeError()).toBe('push_service_failed');
      const { problems } = await checkIn({ project, site, tab, baseUrl });
      expect(problems).toEqual([
        problem('subscription', /no connection to its push service .*LibreWolf/),
      ]);
    } finally {
      await browser.close();
      await site.stop();
    }
  });
});

describeWith('chromium', 'the check in Chromium', (executablePath) => {
  test('it is found that notifications are blocked', async () => {
    const project = { projectId: 'demo', applicationServerKey: newVapidPair().publicKey };
    const baseUrl = 'http://localhost:1';
    const site = await startSite(baseUrl, project);
    const browser = await launchChromium(executablePath);
    try {
      await browser.defaultBrowserContext().overridePermissions(site.origin, []);
      const tab = await openSite(browser, `${site.origin}/`);
      const { problems } = await checkIn({ project, site, tab, baseUrl });
      expect(problems).toEqual([
        problem('permission', /^Notifications are blocked\. Select the icon/),
      ]);
    } finally {
      await browser.close();
      await site.stop();
    }
  });
});
