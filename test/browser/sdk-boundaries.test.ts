import puppeteer, { type Browser } from 'puppeteer-core';
import type { CarillonClient, CarillonError } from '../../sdk/client/carillon.ts';
import { type Folder, useFolder } from '../fixtures/folder.ts';
import { until } from '../fixtures/until.ts';
import { type BrowserName, browserNames, describeWith } from './fixtures/browsers.ts';
import { launchChromium } from './fixtures/chromium.ts';
import { type BrowserSession, describeInBrowsers } from './fixtures/sdk-session.ts';
import { type Site, startSite } from './fixtures/site.ts';
import { openSite, type SitePage } from './fixtures/site-page.ts';

/** Declared by the page's script. */
declare const push: CarillonClient;
/** Set by {@link importBell}. */
declare const bell: typeof import('../../sdk/bell/carillon-bell.ts');

/** A text, because the test's compiler would replace the import. */
const importBell = "import('/carillon-bell.mjs').then((module) => { self.bell = module; })";

/** Runs in a page, before the SDK: records what nothing has caught. */
const recordUncaught = `
self.uncaught = [];
addEventListener('error', ({ message }) => self.uncaught.push(message));
addEventListener('unhandledrejection', ({ reason }) => self.uncaught.push(String(reason)));
`;

/** Every time limit and every pause is a twentieth. */
const shortLimits = `
const { setTimeout } = self;
self.setTimeout = (work, ms) => setTimeout(work, ms / 20);
const { timeout } = AbortSignal;
AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms / 20);
`;

const denied = "throw new DOMException('denied', 'SecurityError')";
/** What a page may find in place of a function. */
const faults = {
  'throws at once': `() => { ${denied}; }`,
  'is missing': 'undefined',
};
/** Also in place of one that returns a promise, or what fires an event. */
const laterFaults = {
  ...faults,
  rejects: `async () => { ${denied}; }`,
  'never settles': '() => new Promise(() => {})',
};

const browserFunctions: readonly (readonly [object: string, name: string, replacements: object])[] =
  [
    ['IDBFactory.prototype', 'open', { ...faults, 'never answers': '() => ({})' }],
    ['IDBDatabase.prototype', 'transaction', faults],
    ['IDBTransaction.prototype', 'objectStore', faults],
    ['IDBObjectStore.prototype', 'get', faults],
    ['IDBObjectStore.prototype', 'put', faults],
    ['LockManager.prototype', 'request', laterFaults],
    ['ServiceWorkerContainer.prototype', 'getRegistration', laterFaults],
    ['ServiceWorkerContainer.prototype', 'register', laterFaults],
    ['ServiceWorkerContainer.prototype', 'addEventListener', faults],
    ['ServiceWorkerRegistration.prototype', 'getNotifications', laterFaults],
    ['PushManager.prototype', 'getSubscription', laterFaults],
    ['PushManager.prototype', 'subscribe', laterFaults],
    ['Notification', 'requestPermission', faults],
    ['Permissions.prototype', 'query', laterFaults],
    ['SubtleCrypto.prototype', 'digest', faults],
    ['AbortSignal', 'timeout', { 'is missing': 'undefined' }],
    ['self', 'MessageChannel', faults],
    ['ServiceWorker.prototype', 'postMessage', { ...faults, 'is not heard': '() => {}' }],
    ['self', 'fetch', laterFaults],
    ['self', 'BroadcastChannel', faults],
    ['BroadcastChannel.prototype', 'postMessage', faults],
    ['self', 'CSSStyleSheet', faults],
    ['Element.prototype', 'attachShadow', faults],
  ];

/** The outcome of each member: `resolved`, the code of its error, or what else has happened. */
function outcomes({ page }: SitePage): Promise<Readonly<Record<string, string>>> {
  return page.evaluate(async () => {
    const members: Record<string, () => Promise<unknown>> = {
      ready: () => push.ready,
      state: () => push.state(),
      permission: () => push.permission(),
      subscription: () => push.subscription(),
      deviceId: () => push.deviceId(),
      channels: () => push.channels(),
      subscribe: () => push.subscribe({ userId: 'ada' }),
      setChannels: () => push.setChannels(['news']),
      identify: () => push.identify('grace'),
      close: () => push.close({ tag: 'a' }),
      unsubscribe: () => push.unsubscribe(),
    };
    const found: Record<string, string> = {};
    for (const [name, call] of Object.entries(members)) {
      const pending = new Promise<string>((resolve) => setTimeout(resolve, 200_000, 'not settled'));
      try {
        const settled = call().then(
          () => 'resolved',
          (error) => (error.name === 'CarillonError' ? error.code : `rejected: ${error}`),
        );
        found[name] = await Promise.race([settled, pending]);
      } catch (error) {
        found[name] = `thrown: ${error}`;
      }
    }
    return found;
  });
}

const settled = expect.stringMatching(/^(resolved|[a-z_]+)$/);
/** Every member resolves, or rejects with a code. */
const allSettled = {
  ...{ ready: 'resolved', state: 'resolved', permission: 'resolved' },
  ...{ subscription: settled, deviceId: settled, channels: settled, subscribe: settled },
  ...{ setChannels: settled, identify: settled, close: settled, unsubscribe: settled },
};

/** Puts a script before the SDK. */
function runFirst(site: Site, script: string): void {
  site.files.set('/', `<!doctype html><script>${script}</script>${site.files.get('/')}`);
}

describeInBrowsers('what the browser throws or never answers', (session: BrowserSession) => {
  test.each(browserFunctions)('%s.%s', async (object, name, replacements) => {
    for (const [how, replacement] of Object.entries(replacements)) {
      const { site } = await session.newSite();
      runFirst(
        site,
        `${recordUncaught}{${shortLimits}
          const value = ${replacement};
          Object.defineProperty(${object}, '${name}', { value, configurable: true, writable: true });
        }`,
      );
      const tab = await session.open(`${site.origin}/`);
      const found = await outcomes(tab);
      expect({ how, ...found }).toEqual({ how, ...allSettled });
      await tab.page.evaluate(importBell);
      const shown = await tab.page.evaluate(async () => {
        const removals = [push.on('change', () => {}), bell.showBell(push), bell.showPrompt(push)];
        await push.state();
        for (const remove of removals) remove();
        await new Promise((resolve) => setTimeout(resolve, 50));
        return Object(self).uncaught;
      });
      expect({ how, uncaught: shown }).toEqual({ how, uncaught: [] });
    }
  });
});

/** What `subscribe()` leads to. */
const subscribing = ({ page }: SitePage) =>
  page.evaluate(() =>
    push.subscribe().then(
      () => 'resolved',
      ({ code }: CarillonError) => code as string,
    ),
  );

describeInBrowsers('a tab that hangs', (session: BrowserSession) => {
  const endlessWorker = 'self.oninstall = (event) => event.waitUntil(new Promise(() => {}));';

  /** What makes a tab hang, in a script before the SDK, or on the site. */
  const hangs: readonly (readonly [
    what: string,
    script: string,
    stage: (site: Site) => unknown,
    outcome: RegExp,
  ])[] = [
    [
      'because its storage never answers',
      'IDBFactory.prototype.open = () => ({});',
      () => {},
      /^resolved$/,
    ],
    [
      'because the service worker never ends its installation',
      '',
      ({ files }) => files.set('/stuck/carillon-sw.js', endlessWorker),
      /^service_worker_failed$/,
    ],
    [
      'because the file of the service worker never comes',
      '',
      ({ responses }) => responses.set('/stuck/carillon-sw.js', () => {}),
      /^service_worker_failed$/,
    ],
    [
      'because the push service of the browser never responds',
      'PushManager.prototype.subscribe = () => new Promise(() => {});',
      () => {},
      /^timeout$/,
    ],
    [
      'because the service never responds',
      'self.fetch = () => new Promise(() => {});',
      () => {},
      /^network_error$/,
    ],
  ];

  test('rejects after a while, and no other tab waits for it', async () => {
    const hanging: { what: string; outcome: RegExp; rejection: Promise<string> }[] = [];
    // Their limits are not shortened: each hangs for as long as it may, and all at the same time.
    for (const [what, script, stage, outcome] of hangs) {
      const { project, site } = await session.newSite();
      const page = site.files.get('/')!;
      const stuck = page.replace('init({', "init({ serviceWorker: '/stuck/carillon-sw.js',");
      site.files.set('/stuck/', `<!doctype html><script>${script}</script>${stuck}`);
      site.files.set('/stuck/carillon-sw.js', site.files.get('/carillon-sw.js')!);
      stage(site);
      const rejection = subscribing(await session.open(`${site.origin}/stuck/`));
      hanging.push({ what, outcome, rejection });
      const tab = await session.open(`${site.origin}/`);
      expect({ what, other: await subscribing(tab) }).toEqual({ what, other: 'resolved' });
      await tab.page.evaluate(async () => {
        await push.setChannels(['news']);
      });
      const channels = (await session.stack.subscriptions(project)).map((one) => one.channels);
      expect({ what, channels }).toEqual({
        what,
        channels: expect.arrayContaining([['news']]),
      });
    }
    for (const { what, outcome, rejection } of hanging) {
      expect({ what, code: await rejection }).toEqual({
        what,
        code: expect.stringMatching(outcome),
      });
    }
  }, 180_000);

  test('that holds the lock for ever, such as in a debugger, stops no other tab', async () => {
    const { project, site } = await session.newSite();
    const sick = await session.open(`${site.origin}/`);
    await sick.page.evaluate(() => {
      navigator.locks.request('carillon', () => new Promise(() => {}));
    });
    const tab = await session.open(`${site.origin}/`);
    expect(await subscribing(tab)).toBe('resolved');
    expect(await session.stack.subscriptions(project)).toHaveLength(1);
  });
});

describeInBrowsers('pages in frames', (session: BrowserSession) => {
  const readState = async ({ page }: SitePage, url: string) => {
    const frame = page.frames().find((one) => one.url() === url)!;
    return frame.evaluate(async () => {
      const { supported, reason } = await push.state();
      const code = await push.subscribe().then(String, (error) => error.code);
      return { supported, reason, code };
    });
  };

  test.each([
    ['of another site', ''],
    ['with a sandbox', 'sandbox="allow-scripts"'],
  ])('%s say that they are embedded', async (_, attribute) => {
    const { site } = await session.newSite();
    const { site: portal } = await session.newSite();
    const url = `${site.origin}/`;
    const outer = portal.origin.replace('localhost', '127.0.0.1');
    portal.files.set('/', `<!doctype html><iframe src="${url}" ${attribute}></iframe>`);
    const tab = await session.open(`${outer}/`);
    expect(await readState(tab, url)).toEqual({
      ...{ supported: false, reason: 'embedded', code: 'unsupported' },
    });
  });

  test('of their own site work', async () => {
    const { site } = await session.newSite();
    site.files.set('/frame', site.files.get('/')!);
    site.files.set('/', '<!doctype html><iframe src="/frame"></iframe>');
    const tab = await session.open(`${site.origin}/`);
    const state = await readState(tab, `${site.origin}/frame`);
    expect(state).toMatchObject({ supported: true, code: expect.stringContaining('object') });
  });
});

describeInBrowsers('pages without an http address', (session: BrowserSession) => {
  const folder = useFolder();

  /** A page that asks nobody, and remembers whether the SDK did. */
  const pageOf = async () => {
    const { site } = await session.newSite();
    // A page without an origin may not load a script of the site.
    const script = () => `<script>${site.files.get('/carillon.js')}</script>`;
    const card = site.files.get('/')!.replace(/<script src=.*<\/script>/, script);
    const asked = 'self.asked = 0; Notification.requestPermission = async () => { self.asked++; };';
    return { site, html: `<!doctype html><script>${asked}</script>${card}` };
  };

  const places: readonly (readonly [what: string, (html: string, site: Site) => string])[] = [
    ['a file', (html) => `file://${folder.write('page.html', html)}`],
    ['a URL with the page in it', (html) => `data:text/html,${encodeURIComponent(html)}`],
    [
      'a frame whose document is an attribute',
      (html, { origin, files }) => {
        const attribute = html.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
        files.set('/outer', `<!doctype html><iframe srcdoc="${attribute}"></iframe>`);
        return `${origin}/outer`;
      },
    ],
    [
      'an object of the page',
      (html, { origin, files }) => {
        const part = `new Blob([${JSON.stringify(html).replaceAll('</', '<\\/')}], { type: 'text/html' })`;
        files.set(
          '/outer',
          `<!doctype html><iframe></iframe><script>
          document.querySelector('iframe').src = URL.createObjectURL(${part});</script>`,
        );
        return `${origin}/outer`;
      },
    ],
  ];

  test.each(places)('%s: the reason is its own, and nobody is asked', async (_, urlOf) => {
    const { site, html } = await pageOf();
    const { page } = await session.open(urlOf(html, site));
    const frame = await until('the SDK', async () => {
      for (const one of page.frames().reverse()) {
        if (await one.evaluate(() => typeof push === 'object').catch(() => false)) return one;
      }
      return undefined;
    });
    const found = await frame.evaluate(async () => {
      const { supported, reason } = await push.state();
      const code = await push.subscribe().then(String, (error) => error.code);
      return { supported, reason, code, asked: Object(self).asked };
    });
    expect(found).toEqual({
      ...{ supported: false, reason: 'no_origin', code: 'unsupported', asked: 0 },
    });
  });
});

/** Starts a browser in which a person has blocked all cookies, and with them all storage. */
const launchBlocked: Readonly<
  Record<BrowserName, (executablePath: string, profile: Folder) => Promise<Browser>>
> = {
  firefox: (executablePath) =>
    puppeteer.launch({
      ...{ browser: 'firefox', executablePath, headless: true },
      extraPrefsFirefox: { 'network.cookie.cookieBehavior': 2 },
    }),
  chromium: (executablePath, profile) => {
    const settings = { profile: { default_content_setting_values: { cookies: 2 } } };
    profile.write('Default/Preferences', JSON.stringify(settings));
    return launchChromium(executablePath, `--user-data-dir=${profile.path}`);
  },
};

describe.each(browserNames)('%s', (name) => {
  describeWith(name, 'blocked cookies', (executablePath) => {
    const profile = useFolder();

    test('are a reason, and nothing is thrown', async () => {
      const config = {
        ...{ projectId: 'demo', applicationServerKey: `BN${'x'.repeat(85)}` },
      };
      const site = await startSite('http://localhost:1', config);
      runFirst(site, recordUncaught);
      const browser = await launchBlocked[name](executablePath, profile);
      try {
        const tab = await openSite(browser, `${site.origin}/`);
        const { supported, reason } = await tab.page.evaluate(() => push.state());
        expect({ supported, reason }).toEqual({ supported: false, reason: 'storage_denied' });
        expect(await outcomes(tab)).toMatchObject({ ...allSettled, subscribe: 'unsupported' });
        await tab.page.evaluate(importBell);
        await tab.page.evaluate(() => {
          push.on('change', () => {})();
          bell.showBell(push)();
        });
        expect(await tab.page.evaluate(() => Object(self).uncaught)).toEqual([]);
      } finally {
        await browser.close();
        await site.stop();
      }
    });
  });
});
