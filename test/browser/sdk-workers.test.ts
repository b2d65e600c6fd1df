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

/** Workers at the URL of the option that show no push of Carillon's. */
const silentWorkers = {
  'that handles other events': "self.addEventListener('fetch', () => {});",
  'that is empty': '',
  'that handles pushes of its own':
    "self.addEventListener('push', (event) => event.waitUntil(registration.showNotification('Own')));",
  'that sends back what it gets':
    "self.addEventListener('message', ({ data, ports }) => ports[0]?.postMessage(data));",
  'that answers the questions of another library':
    "self.addEventListener('message', ({ ports }) => ports[0]?.postMessage({ type: 'VERSION', value: '7' }));",
  'that fails at each message':
    "self.addEventListener('message', (event) => { throw new Error(event.data.type.name); });",
  'that imports Carillon’s too late':
    "self.addEventListener('sync', () => importScripts('/carillon-sw.js'));",
};

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
    for (const part of ['/other.js', 'import carillon-sw.js', 'check()']) {
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
    for (const file of ['/other.js', 'carillon-sw.js']) expect(warnings[0]).toContain(file);
    expect(await registrationOf(view)).toMatchObject({ file: '/other.js' });
    expect(await view.evaluate(() => (self as FetchRecord).fetches)).toEqual([]);
    expect(await view.evaluate(() => push.subscription())).toBeNull();
    expect(await view.evaluate(() => push.deviceId())).toBeUndefined();
  });

  test.each(Object.entries(silentWorkers))(
    'a worker at the URL of the option %s is not Carillon’s',
    async (_, worker) => {
      const { project, site, url } = await newSite();
      site.files.set('/sw.js', worker);
      addOptions(site, "serviceWorker: '/sw.js'");
      const { page } = await session.open(url);
      expect(await subscribeError(page)).toEqual({
        code: 'service_worker_failed',
        message: `${url} has the service worker ${url}sw.js. It does not answer as Carillon's: import carillon-sw.js, or see check().`,
      });
      expect(await stateOf(page)).toEqual({ worker: 'other', subscribed: false });
      expect(await session.stack.subscriptions(project)).toEqual([]);

      // Repaired, the next view says so. The site's worker takes over at once.
      site.files.set('/sw.js', `importScripts('/carillon-sw.js');${otherWorker}${worker}`);
      await page.evaluate(async () => {
        await (await navigator.serviceWorker.getRegistration())!.update();
      });
      await until('the new worker', async () => {
        const { page: view } = await session.open(url);
        return (await stateOf(view)).worker === 'carillon';
      });
      await page.reload();
      await page.evaluate(() => push.subscribe());
      expect(await stateOf(page)).toEqual({ worker: 'carillon', subscribed: true });
    },
  );

  test('while a new version with Carillon’s worker waits, the old one gets the pushes', async () => {
    const { project, site, url } = await newSite();
    addOptions(site, "serviceWorker: '/sw.js'");
    site.files.set('/sw.js', '');
    const { page } = await session.open(url);
    await register(page, '/sw.js');
    await page.reload();
    site.files.set('/sw.js', "importScripts('/carillon-sw.js');");
    await page.evaluate(async () => {
      const registration = (await navigator.serviceWorker.getRegistration())!;
      await registration.update();
      while (!registration.waiting) await new Promise((resolve) => setTimeout(resolve, 20));
    });
    expect((await subscribeError(page))?.message).toContain("does not answer as Carillon's");
    expect(await stateOf(page)).toEqual({ worker: 'other', subscribed: false });
    expect(await session.stack.subscriptions(project)).toEqual([]);
  });

  test('a worker that takes a while to start is asked until it answers', async () => {
    const { site, url } = await newSite();
    const worker = site.files.get('/carillon-sw.js');
    const slow = 'for (const end = Date.now() + 3000; Date.now() < end; );';
    site.files.set('/carillon-sw.js', `${slow}${worker}`);
    const { page } = await session.open(url);
    await page.evaluate(() => push.subscribe());
    expect(await stateOf(page)).toEqual({ worker: 'carillon', subscribed: true });
  });

  test('a worker that a query of a folder names is told from the site’s own', async () => {
    const { project, site, url } = await newSite();
    // As WordPress serves it: other queries, and none, are pages.
    const page = site.files
      .get('/')!
      .replace('init({', "init({ serviceWorker: '/?carillon-sw.js',");
    const worker = site.files.get('/carillon-sw.js')!;
    site.responses.set('/', (request, response) => {
      const isWorker = request.url === '/?carillon-sw.js';
      response.setHeader('content-type', isWorker ? 'text/javascript' : 'text/html');
      response.end(isWorker ? worker : page);
    });
    const { page: first } = await session.open(url);
    await register(first, '/other.js');
    expect((await subscribeError(first))?.message).toContain('/other.js. It does not answer');
    expect(await registrationOf(first)).toMatchObject({ file: '/other.js' });
    await first.evaluate(async () => {
      await (await navigator.serviceWorker.getRegistration())!.unregister();
    });
    const { page: second } = await session.open(url);
    await second.evaluate(() => push.subscribe());
    expect(await stateOf(second)).toEqual({ worker: 'carillon', subscribed: true });
    expect(await registrationOf(second)).toMatchObject({ file: '/?carillon-sw.js' });
    expect(await session.stack.subscriptions(project)).toHaveLength(1);
  });

  test('a worker of another file that has Carillon’s is used, and stays', async () => {
    const { project, site, url } = await newSite();
    site.files.set('/app.js', `importScripts('/carillon-sw.js');${otherWorker}`);
    const { page } = await session.open(url);
    await register(page, '/app.js');
    await page.evaluate(() => push.subscribe());
    expect(await stateOf(page)).toEqual({ worker: 'carillon', subscribed: true });
    expect(await registrationOf(page)).toMatchObject({ file: '/app.js' });
    expect(await session.stack.subscriptions(project)).toHaveLength(1);
    expect((await recorded(page)).warnings).toEqual([]);
  });

  test('a worker that has answered is not asked again on each page view, and is when it is due', async () => {
    const { site, url } = await newSite();
    addOptions(site, "serviceWorker: '/sw.js'");
    site.files.set('/sw.js', `importScripts('/carillon-sw.js');${otherWorker}`);
    const { page } = await session.open(url);
    await page.evaluate(() => push.subscribe());
    site.files.set('/sw.js', otherWorker);
    await page.evaluate(async () => {
      const registration = (await navigator.serviceWorker.getRegistration())!;
      await registration.update();
      while (registration.installing ?? registration.waiting) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
    await page.reload();
    expect(await stateOf(page)).toEqual({ worker: 'carillon', subscribed: true });
    await page.evaluate(ageEntry, url, 'registeredAt');
    await page.reload();
    await stateOf(page);
    expect(await page.evaluate(() => (self as FetchRecord).fetches)).toEqual([]);
  });

  /** Scripts of old sites that remove every service worker. */
  const removers = {
    'when it is ready': 'navigator.serviceWorker.ready.then((one) => one.unregister());',
    'at the start':
      'navigator.serviceWorker.getRegistrations().then((all) => all.forEach((one) => one.unregister()));',
    'when another one takes over': `navigator.serviceWorker.addEventListener('controllerchange', () =>
      navigator.serviceWorker.getRegistration().then((one) => one?.unregister()));`,
  };

  test.each(Object.entries(removers))(
    'a page that unregisters workers %s: it is registered again',
    async (_, script) => {
      const { project, site, url } = await newSite();
      site.files.set('/', `<script>${script}</script>${site.files.get('/')}`);
      const { page } = await session.open(url);
      for (const view of ['first view', 'second view', 'third view']) {
        if (view === 'first view') await page.evaluate(() => push.subscribe());
        else await page.reload();
        await until(
          `the subscription in the ${view}`,
          async () => (await stateOf(page)).subscribed,
        );
        const { delivered, id } = await session.stack.send(project, { title: view });
        expect({ view, delivered }).toEqual({ view, delivered: 1 });
        if (session.name === 'firefox') {
          await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
        }
      }
    },
  );

  test('a page that unregisters workers again and again: the message says so, and no pause follows', async () => {
    const { project, site, url } = await newSite();
    const page = site.files.get('/')!;
    const remove = `setInterval(() => navigator.serviceWorker.getRegistrations().then(
      (all) => all.forEach((one) => one.unregister())), 10);`;
    site.files.set('/', `<script>${remove}</script>${page}`);
    const { page: view } = await session.open(url);
    expect(await subscribeError(view)).toEqual({
      code: 'service_worker_failed',
      message: `This page unregisters ${url}carillon-sw.js.`,
    });
    await view.close();
    site.files.set('/', page);
    const { page: healed } = await session.open(url);
    await healed.evaluate(() => push.subscribe({ userId: 'ada' }));
    site.files.set('/', `<script>${remove}</script>${page}`);
    await healed.reload();
    await stateOf(healed);
    site.files.set('/', page);
    await healed.reload();
    expect(await stateOf(healed)).toEqual({ worker: 'carillon', subscribed: true });
    const [subscription, ...others] = await session.stack.subscriptions(project);
    expect([subscription?.userId, others]).toEqual(['ada', []]);
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
    ['a copy of Carillon’s', undefined],
    ['a line that imports it', "importScripts('/carillon-sw.js?takeover');"],
  ])(
    'with `replaceWorker`, subscribe() finds that an old file in a folder has become %s',
    async (_, file) => {
      const { project, site, url } = await newSite();
      site.files.set('/push/old.js', "self.addEventListener('push', () => {});");
      const { page: before } = await session.open(url);
      await register(before, '/push/old.js', { scope: '/push/' });
      site.files.set('/push/old.js', file ?? site.files.get('/carillon-sw.js')!);
      addOptions(site, "serviceWorker: '/push/old.js', replaceWorker: true");
      // No page of the scope is opened.
      const { page } = await session.open(url);
      expect(await subscribeError(page)).toBeUndefined();
      expect(await stateOf(page)).toEqual({ worker: 'carillon', subscribed: true });
      expect(await session.stack.subscriptions(project)).toHaveLength(1);
    },
  );

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
        message: expect.stringMatching(/\/precache\.js failed to start.*: installation failed$/),
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
