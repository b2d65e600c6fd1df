import type { Page } from 'puppeteer-core';
import type { CarillonClient, CarillonError } from '../../sdk/client/carillon.ts';
import { ageEntry, registrationSettled, subscriptionState } from './fixtures/in-page.ts';
import { type BrowserSession, describeInBrowsers } from './fixtures/sdk-session.ts';
import type { Site } from './fixtures/site.ts';

/** Declared by the page's script. */
declare const push: CarillonClient;

/** What scripts of a site have done to the page before the SDK starts. */
const changedPages = {
  'every array has a toJSON, as with Prototype.js': `
    Array.prototype.toJSON = function () { return '[' + this.join() + ']'; };
    String.prototype.toJSON = () => 'a text';`,
  'every object has a toJSON': "Object.prototype.toJSON = () => 'an object';",
  'arrays and objects have more members, which are enumerable': `
    for (const { prototype } of [Array, Object, String, Function]) {
      prototype.extend = () => {};
      prototype.contains = () => {};
    }`,
  'Promise is another one': `
    const Original = Promise;
    self.Promise = function (start) {
      const promise = new Original(start);
      return { then: (...next) => promise.then(...next), catch: (next) => promise.catch(next) };
    };
    self.Promise.resolve = (value) => new self.Promise((resolve) => resolve(value));`,
  'global names have other values': `
    var origin = 'LHR';
    var name = 'x';
    self.self = self.parent = self.status = null;`,
  'fetch adds a header to every request': `
    const { fetch } = window;
    window.fetch = (url, init = {}) =>
      fetch(url, { ...init, headers: { ...init.headers, 'x-trace': '7', traceparent: '00-1-1-01' } });`,
  'fetch sends cookies by default': `
    const { fetch } = window;
    window.fetch = (url, init) => fetch(url, { credentials: 'include', ...init });`,
  'every handler property is taken': `
    for (const target of [ServiceWorker, ServiceWorkerRegistration, ServiceWorkerContainer, PermissionStatus]) {
      for (const name of ['onstatechange', 'onupdatefound', 'oncontrollerchange', 'onmessage', 'onchange']) {
        if (name in target.prototype) Object.defineProperty(target.prototype, name, { value: null });
      }
    }`,
  'listeners are wrapped': `
    const { addEventListener } = EventTarget.prototype;
    EventTarget.prototype.addEventListener = function (type, listener, options) {
      return addEventListener.call(this, type, (...given) => listener.apply(this, given), options);
    };`,
  'Notification is a class of the site': 'const OfTheBrowser = Notification;',
  'the base is another site': `
    document.write('<base href="https://cdn.example/">');`,
};

/** Puts a script before the SDK. */
function runFirst(site: Site, script: string): void {
  const page = site.files.get('/')!.replace('src="/', `src="${site.origin}/`);
  site.files.set('/', `<!doctype html><script>{${script}}</script>${page}`);
}

describeInBrowsers('pages that others have changed', (session: BrowserSession) => {
  test.each(Object.entries(changedPages))('%s', async (how, script) => {
    // The connection to Chromium, through which its pages subscribe here, passes objects as JSON.
    if (session.name === 'chromium' && how === 'every object has a toJSON') return;
    const { project, site } = await session.newSite();
    runFirst(site, script);
    site.files.set(
      '/',
      site.files.get('/')!.replace('init({', "init({ channels: ['news', 'offers'],"),
    );
    const { page } = await session.open(`${site.origin}/`);
    const stored = async () => {
      const [subscription] = await session.stack.subscriptions(project);
      const { userId, channels = [] } = subscription!;
      return { userId, channels: [...channels].sort() };
    };
    await page.evaluate(async () => {
      await push.subscribe({ userId: 'ada' });
    });
    expect(await stored()).toEqual({ userId: 'ada', channels: ['news', 'offers'] });
    await page.evaluate(async () => {
      await push.setChannels(['sales']);
      await push.identify('grace');
    });
    expect(await stored()).toEqual({ userId: 'grace', channels: ['sales'] });
    await page.evaluate(ageEntry, `${site.origin}/`, 'registeredAt');
    const view = await session.open(`${site.origin}/`);
    await view.page.evaluate(registrationSettled);
    expect(await view.page.evaluate(subscriptionState)).toEqual({ subscribed: true, lost: false });
    expect(await stored()).toEqual({ userId: 'grace', channels: ['sales'] });
    expect(await view.page.evaluate(async () => (await push.channels()).join())).toBe('sales');
    expect(await view.page.evaluate(async () => push.unsubscribe())).toBe(true);
    expect(await session.stack.subscriptions(project)).toEqual([]);
  });

  test('the page and the SDK listen to the same worker', async () => {
    const { site } = await session.newSite();
    const { page } = await session.open(`${site.origin}/`);
    const states = await page.evaluate(async () => {
      const registering = navigator.serviceWorker.register('/carillon-sw.js');
      const seen: string[] = [];
      const { installing } = await registering;
      const subscribing = push.subscribe();
      installing!.onstatechange = () => seen.push(installing!.state);
      await subscribing;
      return seen;
    });
    expect(states).toContain('activated');
  });
});

/** What `subscribe()` rejects with, and how long that takes. */
const failedSubscribe = (page: Page) =>
  page.evaluate(async () => {
    const start = performance.now();
    const failure = await push.subscribe().then(
      () => undefined,
      ({ code, message }: CarillonError) => ({ code, message }),
    );
    return { ...failure, ms: performance.now() - start };
  });

describeInBrowsers('pages with a Content-Security-Policy', (session: BrowserSession) => {
  async function open(policy: string) {
    const { project, site } = await session.newSite();
    site.pageHeaders.set('content-security-policy', policy);
    const { page } = await session.open(`${site.origin}/`);
    return { project, site, page };
  }

  test('a refusal by connect-src is named at once', async () => {
    const { page } = await open("connect-src 'self'");
    const { ms, ...failure } = await failedSubscribe(page);
    expect(failure).toEqual({
      code: 'network_error',
      message: expect.stringContaining('connect-src'),
    });
    expect(failure.message).toContain(session.stack.baseUrl);
    expect(ms).toBeLessThan(5000);
  });

  test('a refusal by worker-src is named', async () => {
    const { page } = await open("worker-src 'none'");
    expect(await failedSubscribe(page)).toMatchObject({
      code: 'service_worker_failed',
      message: expect.stringContaining('worker-src'),
    });
  });

  test('the policy `carillon` serves pages that require Trusted Types, without a violation', async () => {
    const { project, site } = await session.newSite();
    const policy = "require-trusted-types-for 'script'; trusted-types carillon";
    site.pageHeaders.set('content-security-policy', policy);
    site.files.set(
      '/',
      `<script>self.violations = [];
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => violations.push(effectiveDirective));
      </script>${site.files.get('/')}`,
    );
    const { page } = await session.open(`${site.origin}/`);
    await page.evaluate(async () => {
      await push.subscribe();
    });
    expect(await session.stack.subscriptions(project)).toHaveLength(1);
    expect(await page.evaluate(() => Object(self).violations)).toEqual([]);
  });

  test('a trusted URL is accepted', async () => {
    const { project, site } = await session.newSite();
    const policy = "require-trusted-types-for 'script'; trusted-types site";
    site.pageHeaders.set('content-security-policy', policy);
    site.files.set(
      '/',
      `<script>const policy = trustedTypes.createPolicy('site', { createScriptURL: (url) => url });</script>${site.files
        .get('/')!
        .replace('init({', "init({ serviceWorker: policy.createScriptURL('/carillon-sw.js'),")}`,
    );
    const { page } = await session.open(`${site.origin}/`);
    await page.evaluate(async () => {
      await push.subscribe();
    });
    expect(await session.stack.subscriptions(project)).toHaveLength(1);
  });

  test('a refusal because of Trusted Types is named', async () => {
    const { page } = await open("require-trusted-types-for 'script'; trusted-types site");
    expect(await failedSubscribe(page)).toMatchObject({
      code: 'service_worker_failed',
      message: expect.stringContaining('require-trusted-types-for'),
    });
  });
});

describeInBrowsers('files of the service worker', (session: BrowserSession) => {
  const files: readonly (readonly [
    what: string,
    stage: (site: Site) => string,
    message: RegExp,
  ])[] = [
    [
      'that are redirected on the site',
      (site) => {
        site.responses.set('/sw.js', (_, response) => {
          response.writeHead(302, { location: '/carillon-sw.js' }).end();
        });
        return "serviceWorker: '/sw.js'";
      },
      /\/sw\.js failed to start.*: a redirect/,
    ],
    [
      'that are redirected to another site',
      (site) => {
        const target = site.origin.replace('localhost', '127.0.0.1');
        site.responses.set('/sw.js', (_, response) => {
          response.writeHead(301, { location: `${target}/carillon-sw.js` }).end();
        });
        return "serviceWorker: '/sw.js'";
      },
      /\/sw\.js failed to start.*: a redirect/,
    ],
    [
      'whose scope is too wide',
      (site) => {
        site.files.set('/static/carillon-sw.js', site.files.get('/carillon-sw.js')!);
        return "serviceWorker: '/static/carillon-sw.js', scope: '/'";
      },
      /\/static\/carillon-sw\.js failed to start; see check\(\): 200 text\/javascript[^:]*: ./,
    ],
  ];
  test.each(files)('%s', async (_, stage, message) => {
    const { site } = await session.newSite();
    const options = stage(site);
    site.files.set('/', site.files.get('/')!.replace('init({', `init({ ${options},`));
    const { page } = await session.open(`${site.origin}/`);
    expect(await failedSubscribe(page)).toMatchObject({
      code: 'service_worker_failed',
      message: expect.stringMatching(message),
    });
  });
});
