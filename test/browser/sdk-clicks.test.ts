import type { Page } from 'puppeteer-core';
import { until } from '../fixtures/until.ts';
import { describeWithSdk } from './fixtures/sdk-session.ts';
import type { SitePage } from './fixtures/site-page.ts';
import type { TestProject } from './fixtures/stack.ts';

/** What a page has recorded since it was loaded. */
interface Recorded {
  readonly clicks: readonly { readonly url: string; readonly cancelable: boolean }[];
}

/** At the end of a page: records clicks, and does with each what the statement says. */
const recordClicks = (statement = '') => `<script>
self.clicks = [];
push.on('clicked', (event) => {
  const { url, cancelable } = event;
  self.clicks.push({ url, cancelable });
  ${statement}
});
</script>`;

/** What a page with a router does. */
const routed = recordClicks(`
  if (cancelable) { history.pushState(null, '', url); event.preventDefault(); }`);

/** `undefined` after the page was loaded again. */
const clicksOf = (page: Page): Promise<Recorded['clicks'] | undefined> =>
  page.evaluate(() => (self as unknown as Partial<Recorded>).clicks);

describeWithSdk('clicks in Firefox', (session) => {
  /** Sends a notification, clicks it, and waits until the service has the click. */
  async function click(project: TestProject, url?: string): Promise<void> {
    const { id } = await session.stack.send(project, { title: `To ${url}`, url });
    await session.firefox.clickNotification(`To ${url}`);
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 1 });
  }

  /** A page with the card's snippet, at each of these paths. @returns a subscribed tab at the first. */
  async function site(paths: readonly string[], end: string) {
    const { project, site } = await session.newSite();
    const card = site.files.get('/')!;
    for (const path of paths) site.files.set(path, card + end);
    const tab = await session.open(site.origin + paths[0]);
    await tab.subscribe();
    // The worker controls pages that were loaded since.
    await tab.page.reload();
    return { project, site, tab };
  }

  /** Moves a page to another address without loading it. */
  const moveTo = ({ page }: SitePage, path: string) =>
    page.evaluate((url) => history.pushState(null, '', url), path);

  test('a single-page application that has come to the URL stays as it is', async () => {
    const { project, site: at, tab } = await site(['/'], recordClicks());
    await moveTo(tab, '/chat/7');
    const before = await session.openUrls();
    await click(project, `${at.origin}/chat/7`);
    await until('the click', async () => (await clicksOf(tab.page))!.length > 0);
    expect(await session.openUrls()).toEqual(before);
    expect(tab.page.url()).toBe(`${at.origin}/chat/7`);
  });

  test('a single-page application that has left the URL goes back there', async () => {
    const { project, site: at, tab } = await site(['/inbox'], recordClicks());
    await moveTo(tab, '/chat/7');
    await click(project, `${at.origin}/inbox`);
    await until('the URL', () => tab.page.url() === `${at.origin}/inbox`);
    // The page was loaded.
    expect(await clicksOf(tab.page)).toEqual([]);
  });

  test('a page with a router shows the URL itself', async () => {
    const { project, site: at, tab } = await site(['/'], routed);
    const before = (await session.openUrls()).length;
    for (const path of ['/chat/7', '/chat/8', '/']) {
      await click(project, at.origin + path);
      await until('the URL', () => tab.page.url() === at.origin + path);
    }
    expect(await clicksOf(tab.page)).toHaveLength(3);
    expect(await session.openUrls()).toHaveLength(before);
  });

  test('of three tabs, only the one that has the focus can take the click', async () => {
    const {
      project,
      site: at,
      tab,
    } = await site(
      ['/one', '/two', '/three'],
      // The others try to.
      recordClicks("if (location.pathname !== '/two') event.preventDefault();"),
    );
    const two = await session.open(`${at.origin}/two`);
    const three = await session.open(`${at.origin}/three`);
    await two.page.bringToFront();
    const url = `${at.origin}/four`;
    at.files.set('/four', '<!doctype html>');
    await click(project, url);
    await until('the URL', () => two.page.url() === url);
    for (const { page } of [tab, three]) {
      expect(await clicksOf(page)).toEqual([{ url, cancelable: false }]);
    }
    at.files.set('/two', at.files.get('/one')!);
    await two.page.goto(`${at.origin}/one`);
    await click(project, `${at.origin}/five`);
    await until('the click', async () => (await clicksOf(two.page))!.length > 0);
    expect(await clicksOf(two.page)).toEqual([{ url: `${at.origin}/five`, cancelable: true }]);
    expect(two.page.url()).toBe(`${at.origin}/one`);
  });

  test('a page that listens twice answers once; one whose listener fails is navigated', async () => {
    const failing = recordClicks("throw new Error('of the page');");
    const { project, site: at, tab } = await site(['/'], failing + routed);
    await click(project, `${at.origin}/chat/7`);
    await until('the URL', () => tab.page.url() === `${at.origin}/chat/7`);
    expect(await clicksOf(tab.page)).toHaveLength(2);

    at.files.set('/', at.files.get('/')!.replace(routed, ''));
    await tab.page.goto(`${at.origin}/`);
    at.files.set('/target', '<!doctype html>');
    await click(project, `${at.origin}/target`);
    await until('the URL', () => tab.page.url() === `${at.origin}/target`);
  });

  test('a page without the SDK is navigated', async () => {
    const { project, site: at, tab } = await site(['/'], '');
    for (const path of ['/text.txt', '/plain', '/target']) at.files.set(path, 'A document');
    for (const [from, to] of [
      ['/text.txt', '/plain'],
      ['/plain', '/target'],
    ]) {
      await tab.page.goto(at.origin + from);
      await click(project, at.origin + to);
      await until('the URL', () => tab.page.url() === at.origin + to);
    }
  });

  describe('frames are no tabs', () => {
    test.each([
      ['hidden', '<iframe src="/frame" hidden></iframe>'],
      ['visible', '<iframe src="/frame"></iframe>'],
    ])('also a %s one at the URL', async (_, frame) => {
      const { project, site: at, tab } = await site(['/frame', '/outer'], frame);
      at.files.set('/frame', '<!doctype html><title>Frame</title>');
      await tab.page.goto(`${at.origin}/outer`);
      await click(project, `${at.origin}/frame`);
      await until('the URL in the tab', () => tab.page.url() === `${at.origin}/frame`);
    });

    test('nor can a frame take the click', async () => {
      const { project, site: at, tab } = await site(['/', '/frame'], routed);
      at.files.set('/outer', '<!doctype html><iframe src="/frame"></iframe>');
      at.files.set('/target', '<!doctype html>');
      await tab.page.goto(`${at.origin}/outer`);
      await click(project, `${at.origin}/target`);
      await until('the URL in the tab', () => tab.page.url() === `${at.origin}/target`);
    });
  });

  describe('a site below a path', () => {
    /** A tab of the site below `/shop/`, and one of another site on the host. */
    async function shop() {
      const { project, site: at } = await session.newSite();
      const card = at.files.get('/')!;
      at.files.set('/', '<!doctype html><title>Another site</title>');
      at.files.set('/shop/carillon-sw.js', at.files.get('/carillon-sw.js')!);
      const options = "init({ serviceWorker: '/shop/carillon-sw.js',";
      at.files.set('/shop/', card.replace('init({', options));
      at.files.set('/shop/cart', at.files.get('/shop/')!);
      const tab = await session.open(`${at.origin}/shop/cart`);
      await tab.subscribe();
      await tab.page.reload();
      const other = await session.open(`${at.origin}/`);
      return { project, at, tab, other };
    }

    test('without a URL, a click opens its start page in its tab', async () => {
      const { project, at, tab, other } = await shop();
      await click(project);
      await until('the start page', () => tab.page.url() === `${at.origin}/shop/`);
      expect(other.page.url()).toBe(`${at.origin}/`);
    });

    test('without a tab of its own, it opens one', async () => {
      const { project, at, tab, other } = await shop();
      await tab.page.close();
      await click(project);
      await until('the start page', async () =>
        (await session.openUrls()).includes(`${at.origin}/shop/`),
      );
      expect(other.page.url()).toBe(`${at.origin}/`);
    });
  });

  /** Calls of the browser that fail in the worker. */
  const failures = {
    'navigate() rejects': `WindowClient.prototype.navigate = async () => { throw new TypeError(); };`,
    'navigate() throws': `WindowClient.prototype.navigate = () => { throw new TypeError(); };`,
    'focus() rejects': `WindowClient.prototype.focus = async () => { throw new TypeError(); };`,
    'focus() throws': `WindowClient.prototype.focus = () => { throw new TypeError(); };`,
    'matchAll() rejects': `Clients.prototype.matchAll = async () => { throw new TypeError(); };`,
    'postMessage() throws, and navigate() rejects': `
      Client.prototype.postMessage = () => { throw new TypeError(); };
      WindowClient.prototype.navigate = async () => { throw new TypeError(); };`,
  };

  test.each(Object.entries(failures))('if %s, a new tab opens', async (_, script) => {
    const { project, site: at } = await session.newSite();
    at.files.set('/carillon-sw.js', `${script}${at.files.get('/carillon-sw.js')}`);
    at.files.set('/target', '<!doctype html>');
    const tab = await session.open(`${at.origin}/`);
    await tab.subscribe();
    await tab.page.reload();
    const before = await session.openUrls();
    await click(project, `${at.origin}/target`);
    const opened = await until('the URL in a new tab', async () => {
      const urls = await session.openUrls();
      return urls.length > before.length && urls.includes(`${at.origin}/target`) && urls;
    });
    expect(opened).toHaveLength(before.length + 1);
  });

  test('the event stays as it was without a tab that is asked', async () => {
    const { project, site: at, tab } = await site(['/'], recordClicks());
    await click(project, 'http://127.0.0.1:1/elsewhere');
    await until('the click', async () => (await clicksOf(tab.page))!.length > 0);
    expect(await clicksOf(tab.page)).toEqual([
      { url: 'http://127.0.0.1:1/elsewhere', cancelable: false },
    ]);
    expect(tab.page.url()).toBe(`${at.origin}/`);
  });
});
