import type { Page } from 'puppeteer-core';
import type { CarillonClient, CarillonError } from '../../sdk/client/carillon.ts';
import { until } from '../fixtures/until.ts';
import {
  ageEntry,
  type FetchRecord,
  recordFetches,
  registrationSettled,
} from './fixtures/in-page.ts';
import { type BrowserSession, describeInBrowsers } from './fixtures/sdk-session.ts';
import type { Site } from './fixtures/site.ts';

/** Declared by the page's script. */
declare const push: CarillonClient;

/** A worker of the site that has no listener for pushes, as that of a plugin for offline pages. */
const otherWorker = `
self.oninstall = () => self.skipWaiting();
self.onactivate = (event) => event.waitUntil(self.clients.claim());
`;

/** At the start of a page: records what is written to the console, and each `change`. */
const recordWarnings = `<script>
self.warnings = [];
console.warn = (...texts) => self.warnings.push(texts.join(' '));
</script>`;
const recordChanges = `<script>
self.changes = [];
push.on('change', (state) => self.changes.push(state));
</script>`;

interface Recorded {
  readonly warnings: readonly string[];
  readonly changes: readonly { readonly worker: string }[];
}
const recorded = (page: Page): Promise<Recorded> =>
  page.evaluate(() => {
    const { warnings, changes } = self as unknown as Recorded;
    return { warnings, changes };
  });

/** Registers a worker in the page, and waits until it is active. */
function register(page: Page, file: string, options: RegistrationOptions = {}): Promise<void> {
  return page.evaluate(
    async (url, given) => {
      const registration = await navigator.serviceWorker.register(url, given);
      const worker = registration.installing ?? registration.waiting ?? registration.active!;
      while (worker.state !== 'activated') await new Promise((resolve) => setTimeout(resolve, 20));
    },
    file,
    options,
  );
}

/** What the scope at the root of the site has. */
const registrationOf = (page: Page) =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.getRegistration('/');
    const worker = registration?.active ?? registration?.waiting ?? registration?.installing;
    const file = worker && new URL(worker.scriptURL);
    return {
      file: file && file.pathname + file.search,
      updateViaCache: registration?.updateViaCache,
    };
  });

const stateOf = (page: Page) =>
  page.evaluate(async () => {
    await push.ready;
    const { worker, subscribed } = await push.state();
    return { worker, subscribed };
  });

/** What `subscribe()` rejects with. */
const subscribeError = (page: Page) =>
  page.evaluate(() =>
    push.subscribe().then(
      () => undefined,
      ({ code, message }: CarillonError) => ({ code, message }),
    ),
  );

/** Adds members to the options of `init`: an expression. */
function addOptions(site: Site, members: string): void {
  site.files.set('/', site.files.get('/')!.replace('init({', `init({ ${members},`));
}

describeInBrowsers('service workers of others', (session: BrowserSession) => {
  async function newSite() {
    const { project, site } = await session.newSite();
    site.files.set('/other.js', otherWorker);
    site.files.set('/', recordWarnings + recordFetches + site.files.get('/') + recordChanges);
    return { project, site, url: `${site.origin}/` };
  }

  test('subscribe() does not replace the worker of the site, and says what to do', async () => {
    const { project, url } = await newSite();
    const { page } = await session.open(url);
    await register(page, '/other.js');
    const { code, message } = (await subscribeError(page))!;
    expect(code).toBe('service_worker_failed');
    for (const part of ['/other.js', '/carillon-sw.js', 'Import', 'another folder']) {
      expect(message).toContain(part);
    }
    expect(await registrationOf(page)).toMatchObject({ file: '/other.js' });
    expect(await session.stack.subscriptions(project)).toEqual([]);
  });

  test('a page view finds that another worker has taken the place of Carillon’s', async () => {
    const { url } = await newSite();
    const { page } = await session.open(url);
    await page.evaluate(() => push.subscribe());
    expect(await stateOf(page)).toEqual({ worker: 'carillon', subscribed: true });
    await register(page, '/other.js');
    // Also if the registration is due.
    await page.evaluate(ageEntry, url, 'registeredAt');

    const { page: view } = await session.open(url);
    expect(await stateOf(view)).toEqual({ worker: 'other', subscribed: false });
    await until('the event', async () => (await recorded(view)).changes.length > 0);
    const { warnings, changes } = await recorded(view);
    expect(changes[0]).toMatchObject({ worker: 'other', subscribed: false, lost: true });
    expect(warnings).toHaveLength(1);
    for (const file of ['/other.js', '/carillon-sw.js']) expect(warnings[0]).toContain(file);
    expect(await registrationOf(view)).toMatchObject({ file: '/other.js' });
    expect(await view.evaluate(() => (self as FetchRecord).fetches)).toEqual([]);
    expect(await view.evaluate(() => push.subscription())).toBeNull();
    expect(await view.evaluate(() => push.deviceId())).toBeUndefined();
  });

  test('an open page is told when another worker takes over', async () => {
    const { url } = await newSite();
    const { page } = await session.open(url);
    await page.evaluate(() => push.subscribe());
    await page.reload();
    expect(await stateOf(page)).toEqual({ worker: 'carillon', subscribed: true });
    await register(page, '/other.js');
    await until('the event', async () =>
      (await recorded(page)).changes.some(({ worker }) => worker === 'other'),
    );
  });

  test('with `replaceWorker`, subscribe() replaces the other worker', async () => {
    const { project, site, url } = await newSite();
    addOptions(site, 'replaceWorker: true');
    const { page } = await session.open(url);
    await register(page, '/other.js');
    await page.evaluate(() => push.subscribe());
    expect(await stateOf(page)).toEqual({ worker: 'carillon', subscribed: true });
    expect(await registrationOf(page)).toMatchObject({ file: '/carillon-sw.js' });
    expect(await session.stack.subscriptions(project)).toHaveLength(1);
  });

  test.each([
    ['that subscribe() registers', false],
    ['that the page has registered', true],
  ])(
    'a worker %s, and whose installation fails: subscribe() rejects at once',
    async (_, isFirst) => {
      const { site, url } = await newSite();
      site.files.set(
        '/precache.js',
        `self.oninstall = (event) =>
          event.waitUntil(caches.open('files').then((cache) => cache.addAll(['/missing.css'])));`,
      );
      addOptions(site, "serviceWorker: '/precache.js'");
      const { page } = await session.open(url);
      if (isFirst) await page.evaluate(() => void navigator.serviceWorker.register('/precache.js'));
      // At the limit of 30 s the message would be another one.
      expect(await subscribeError(page)).toEqual({
        code: 'service_worker_failed',
        message: expect.stringMatching(
          /\/precache\.js failed to start.*: its installation failed$/,
        ),
      });
    },
  );

  test('without any worker, the browser is not subscribed', async () => {
    const { url } = await newSite();
    const { page } = await session.open(url);
    expect(await stateOf(page)).toEqual({ worker: 'none', subscribed: false });
  });

  test.each([
    ['with another query', '/carillon-sw.js?v=1', '/carillon-sw.js?v=2'],
    ['with a query that the option lacks', '/sw.js?appId=7', '/sw.js'],
    ['under its former name', '/carillon-sw-1.0.js', '/carillon-sw.js'],
  ])('Carillon’s own worker %s is not another one', async (_, before, after) => {
    const { site, url } = await newSite();
    for (const file of ['/sw.js', '/carillon-sw-1.0.js']) {
      site.files.set(file, site.files.get('/carillon-sw.js')!);
    }
    addOptions(site, `serviceWorker: '${after}'`);
    const { page } = await session.open(url);
    await register(page, before);
    await page.evaluate(() => push.subscribe());
    expect(await stateOf(page)).toEqual({ worker: 'carillon', subscribed: true });
    expect((await recorded(page)).warnings).toEqual([]);
  });

  describe('a registration with this file is used as it is', () => {
    async function siteWithWorker() {
      const { site, url } = await newSite();
      site.files.set('/sw.js', site.files.get('/carillon-sw.js')!);
      addOptions(site, "serviceWorker: '/sw.js'");
      return { site, url };
    }

    test('of the type `module`', async () => {
      const { site, url } = await siteWithWorker();
      site.files.set('/part.js', 'export const part = 1;');
      site.files.set('/sw.js', `import { part } from '/part.js';\n${site.files.get('/sw.js')}`);
      const { page } = await session.open(url);
      await register(page, '/sw.js', { type: 'module' });
      await page.evaluate(() => push.subscribe());
      expect(await stateOf(page)).toEqual({ worker: 'carillon', subscribed: true });
    });

    test('with its `updateViaCache`, also when it is due', async () => {
      const { url } = await siteWithWorker();
      const { page } = await session.open(url);
      await register(page, '/sw.js', { updateViaCache: 'none' });
      await page.evaluate(() => push.subscribe());
      expect(await registrationOf(page)).toEqual({ file: '/sw.js', updateViaCache: 'none' });
      await page.evaluate(ageEntry, url, 'registeredAt');
      const { page: view } = await session.open(url);
      await view.evaluate(registrationSettled);
      expect(await view.evaluate(() => (self as FetchRecord).fetches!.length)).toBe(1);
      expect(await registrationOf(view)).toEqual({ file: '/sw.js', updateViaCache: 'none' });
    });

    test('as an option', async () => {
      const { site, url } = await siteWithWorker();
      site.files.set(
        '/',
        `<script src="/carillon.js"></script><script>
        const registering = navigator.serviceWorker.register('/sw.js', { updateViaCache: 'none' });
        var push;
        const started = registering.then((registration) => { push = Carillon.init(${
          /init\((\{[\s\S]*?\})\)/.exec(site.files.get('/')!)![1]
        }); });</script>`.replace("serviceWorker: '/sw.js'", 'serviceWorker: registration'),
      );
      const { page } = await session.open(url);
      await page.evaluate('started.then(() => push.subscribe()).then(() => {})');
      expect(await stateOf(page)).toEqual({ worker: 'carillon', subscribed: true });
      expect(await registrationOf(page)).toEqual({ file: '/sw.js', updateViaCache: 'none' });
    });
  });
});
