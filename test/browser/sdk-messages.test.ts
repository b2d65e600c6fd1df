import type { Browser, Page } from 'puppeteer-core';
import type { CarillonError, CarillonOptions } from '../../sdk/client/carillon.ts';
import { describeWith } from './fixtures/browsers.ts';
import { launchChromium } from './fixtures/chromium.ts';
import { describeWithSdk } from './fixtures/sdk-session.ts';
import { type Site, startSite } from './fixtures/site.ts';

/** Set by the classic script of the site. */
declare const Carillon: Pick<typeof import('../../sdk/client/carillon.ts'), 'init'>;

/** What a developer reads in the console of the browser if `subscribe()` rejects. */
function messageOf(page: Page, options: CarillonOptions): Promise<string> {
  return page.evaluate(async (given) => {
    const { code, message } = await Carillon.init(given)
      .subscribe()
      .then(
        () => ({ code: 'none', message: '' }),
        (error: CarillonError) => error,
      );
    return `${code}: ${message}`;
  }, options);
}

interface Opened {
  readonly page: Page;
  readonly site: Site;
  readonly options: CarillonOptions;
}

function aMissingWorkerIsNamed(open: () => Promise<Opened>): void {
  test('a service worker that is missing, and that a development server replaces by a page', async () => {
    const { page, site, options } = await open();
    site.files.delete('/carillon-sw.js');
    expect(await messageOf(page, options)).toMatch(
      /^service_worker_failed: .*\/carillon-sw\.js failed to start; see check\(\): 404 /,
    );
    site.files.set('/page', '<!doctype html>');
    expect(await messageOf(page, { ...options, serviceWorker: '/page' })).toMatch(
      /\/page failed to start; see check\(\): 200 text\/html/,
    );
  });

  test('a service worker that throws', async () => {
    const { page, site, options } = await open();
    site.files.set('/carillon-sw.js', 'throw new Error();');
    expect(await messageOf(page, options)).toMatch(
      /^service_worker_failed: .*\/carillon-sw\.js failed to start; see check\(\): ./,
    );
  });
}

describeWithSdk('messages for developers in Firefox', (session) => {
  async function open(): Promise<Opened> {
    const { project, site } = await session.newSite();
    const { page } = await session.open(`${site.origin}/`);
    const { projectId, applicationServerKey } = project;
    return {
      page,
      site,
      options: { baseUrl: session.stack.baseUrl, projectId, applicationServerKey },
    };
  }

  aMissingWorkerIsNamed(open);

  test('a mistyped project id', async () => {
    const { page, options } = await open();
    expect(await messageOf(page, { ...options, projectId: 'shpo' })).toBe(
      'project_not_found: There is no project "shpo"; check the project id and the address.',
    );
  });
});

describeWith('chromium', 'messages for developers in Chromium', (executablePath) => {
  const options = {
    baseUrl: 'https://push.example',
    projectId: 'demo',
    applicationServerKey: `BN${'x'.repeat(85)}`,
  };
  let browser: Browser;
  let site: Site;

  beforeAll(async () => {
    // A site that is not on localhost.
    browser = await launchChromium(executablePath, '--host-resolver-rules=MAP shop 127.0.0.1');
  });
  beforeEach(async () => {
    site = await startSite(options.baseUrl, options);
    await browser.defaultBrowserContext().overridePermissions(site.origin, ['notifications']);
  });
  afterEach(() => site.stop());
  afterAll(() => browser?.close());

  async function open(origin = site.origin): Promise<Opened> {
    const page = await browser.newPage();
    await page.goto(`${origin}/`);
    return { page, site, options };
  }

  aMissingWorkerIsNamed(open);

  test('a site without https', async () => {
    const { page } = await open(site.origin.replace('localhost', 'shop'));
    expect(await messageOf(page, options)).toBe('unsupported: No push here: insecure_context.');
  });

  test('a mistake, also in a browser without push', async () => {
    const { page } = await open(site.origin.replace('localhost', 'shop'));
    const codes = await page.evaluate(async (given) => {
      const push = Carillon.init(given);
      const calls = [
        () => push.setChannels('news' as never),
        () => push.setChannels(undefined as never),
        () => push.subscribe({ channels: ['News'] }),
        () => push.identify(42 as never),
      ];
      return Promise.all(calls.map((call) => call().then(String, ({ code }) => code)));
    }, options);
    expect(codes).toEqual(Array(4).fill('invalid_options'));
  });
});
