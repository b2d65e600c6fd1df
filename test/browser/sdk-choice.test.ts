import type { Page } from 'puppeteer-core';
import type { CarillonClient } from '../../sdk/client/carillon.ts';
import { until } from '../fixtures/until.ts';
import {
  ageEntry,
  type FetchRecord,
  readEntry,
  recordFetches,
  registrationSettled,
} from './fixtures/in-page.ts';
import { reactive, reactiveLibraries } from './fixtures/reactive-libraries.ts';
import { type BrowserSession, describeInBrowsers } from './fixtures/sdk-session.ts';
import type { Site } from './fixtures/site.ts';
import { startThrottlingGateway } from './fixtures/throttling-gateway.ts';

/** Declared by the page's script. */
declare const push: CarillonClient;

const twoDaysAgo = 'registeredAt';

/** Sets members of the options of `init`, in place of those of {@link Site}'s first page. */
const withOptions = (card: string, members: string) => card.replace('init({', `init({ ${members},`);

/** Forgets everything that the SDK has stored. */
const eraseStorage = () =>
  new Promise((resolve, reject) => {
    const deleting = indexedDB.deleteDatabase('carillon');
    deleting.onsuccess = () => resolve(undefined);
    deleting.onerror = reject;
  });

describeInBrowsers('what a visitor has chosen', (session: BrowserSession) => {
  /** What the service has of the only subscription. */
  async function registered(project: Parameters<typeof session.stack.subscriptions>[0]) {
    const [subscription, ...others] = await session.stack.subscriptions(project);
    expect(others).toEqual([]);
    const { userId, channels = [] } = subscription!;
    return { userId, channels: [...channels].sort() };
  }

  /** A new view of the site, after the attempt of `init()`. */
  async function view(site: Site): Promise<Page> {
    const { page } = await session.open(`${site.origin}/`);
    await page.evaluate(registrationSettled);
    return page;
  }

  const stateOf = (page: Page) =>
    page.evaluate(async () => {
      const { userId, channels } = await push.state();
      return { userId, channels };
    });

  describe.each(Object.entries(reactive))('in reactive values of %s', (_, { list, object }) => {
    const listOf = (...names: readonly string[]) => list.replace('VALUE', JSON.stringify(names));

    async function reactiveSite(options = '') {
      const { project, site } = await session.newSite();
      const card = withOptions(site.files.get('/')!, options || 'scope: undefined');
      site.files.set('/libraries.js', await reactiveLibraries());
      site.files.set('/', `<!doctype html><script src="/libraries.js"></script>${card}`);
      return { project, site };
    }

    async function expectKept(
      { project, site }: Awaited<ReturnType<typeof reactiveSite>>,
      expected: { readonly userId: string; readonly channels: readonly string[] },
    ): Promise<void> {
      expect(await registered(project)).toEqual(expected);
      const page = await view(site);
      expect(await stateOf(page)).toEqual(expected);
      await page.evaluate(ageEntry, `${site.origin}/`, twoDaysAgo);
      const later = await view(site);
      expect(await stateOf(later)).toEqual(expected);
      expect(await registered(project)).toEqual(expected);
    }

    test('channels are set', async () => {
      const at = await reactiveSite();
      const page = await view(at.site);
      await page.evaluate(() => push.subscribe({ userId: 'ann', channels: ['offers'] }));
      await page.evaluate(`push.setChannels(${listOf('news')})`);
      await expectKept(at, { userId: 'ann', channels: ['news'] });
    });

    test('the browser is subscribed', async () => {
      const at = await reactiveSite();
      const page = await view(at.site);
      await page.evaluate(
        `push.subscribe({ userId: 'ann', channels: ${listOf('news')} }).then(() => {})`,
      );
      await expectKept(at, { userId: 'ann', channels: ['news'] });
    });

    test('the whole options are reactive', async () => {
      const at = await reactiveSite();
      const page = await view(at.site);
      const options = object.replace('VALUE', "{ userId: 'ann', channels: ['news', 'offers'] }");
      await page.evaluate(`push.subscribe(${options}).then(() => {})`);
      await expectKept(at, { userId: 'ann', channels: ['news', 'offers'] });
    });

    test('the page changes its list later, and says nothing', async () => {
      const at = await reactiveSite();
      const page = await view(at.site);
      await page.evaluate(`
        self.list = ${listOf('news')};
        push.setChannels(list);
        push.subscribe({ userId: 'ann' }).then(() => { list.push('offers'); })`);
      await expectKept(at, { userId: 'ann', channels: ['news'] });
    });

    test('the defaults of init', async () => {
      const at = await reactiveSite(`channels: self.defaults = ${listOf('news')}`);
      const page = await view(at.site);
      await page.evaluate(
        "defaults.push('offers'); push.subscribe({ userId: 'ann' }).then(() => {})",
      );
      await expectKept(at, { userId: 'ann', channels: ['news'] });
    });
  });

  test('of a list, only names are taken, and nothing is changed by another value', async () => {
    const { project, site } = await session.newSite();
    const page = await view(site);
    await page.evaluate(() => push.subscribe({ channels: ['news'] }));
    const codes = await page.evaluate(async () => {
      const values = [
        null,
        'news',
        { 0: 'news', length: 1 },
        new Set(['news']),
        [new String('news')],
      ];
      const attempts = values.map((value) => push.setChannels(value as never));
      return Promise.all(attempts.map((one) => one.then(String, ({ code }) => code)));
    });
    expect(codes).toEqual(Array(5).fill('invalid_options'));
    expect(await registered(project)).toEqual({ channels: ['news'] });
  });

  test('the language of the page is registered, and another one at once', async () => {
    const { project, site } = await session.newSite();
    const card = site.files.get('/')!;
    const speak = (lang: string) =>
      site.files.set('/', `<!doctype html><html lang="${lang}">${card}`);
    const locale = async () => (await session.stack.locales(project))[0];
    speak('de-CH');
    const page = await view(site);
    await page.evaluate(() => push.subscribe().then(() => {}));
    expect(await locale()).toBe('de-CH');
    speak('pt-BR');
    await view(site);
    expect(await locale()).toBe('pt-BR');
    // What is no tag counts as none: the browser has a language too.
    speak('en_US@posix');
    const last = await view(site);
    expect(await locale()).toBe(await last.evaluate(() => navigator.language));
  });

  test('unsubscribe() forgets the channels that were chosen, and not who is logged in', async () => {
    const { project, site } = await session.newSite();
    const given = "userId: 'ann', channels: ['weather']";
    site.files.set('/', withOptions(site.files.get('/')!, given));
    const page = await view(site);
    await page.evaluate(async () => {
      await push.setChannels(['news']);
      await push.identify('ada');
      await push.subscribe();
    });
    expect(await registered(project)).toEqual({ userId: 'ada', channels: ['news'] });
    await page.evaluate(() => push.unsubscribe());
    expect(await stateOf(page)).toEqual({ userId: 'ada', channels: ['weather'] });
    await page.evaluate(() => push.subscribe().then(() => {}));
    expect(await registered(project)).toEqual({ userId: 'ada', channels: ['weather'] });
  });

  test('of two calls at once, the later one counts', async () => {
    const { project, site } = await session.newSite();
    const page = await view(site);
    await page.evaluate(() => push.subscribe({ userId: 'ada', channels: [] }).then(() => {}));
    await page.evaluate(async () => {
      await Promise.all([push.setChannels(['news']), push.setChannels([])]);
      await Promise.all([push.identify(null), push.identify('ada')]);
    });
    expect(await stateOf(page)).toEqual({ userId: 'ada', channels: [] });
    expect(await registered(project)).toEqual({ userId: 'ada', channels: [] });
  });

  describe('while what the browser has stored cannot be changed', () => {
    const fillDisk = () => {
      IDBObjectStore.prototype.put = () => {
        throw new DOMException('full', 'QuotaExceededError');
      };
    };

    test('unsubscribe() rejects, because a later view would subscribe the browser again', async () => {
      const { project, site } = await session.newSite();
      const page = await view(site);
      await page.evaluate(() => push.subscribe().then(() => {}));
      await page.evaluate(fillDisk);
      const unsubscribing = page.evaluate(() =>
        push.unsubscribe().then(String, ({ code }) => code),
      );
      expect(await unsubscribing).toBe('browser_failed');
      expect(await session.stack.subscriptions(project)).toEqual([]);
    });

    test('a log-out rejects, because a later view would log in again', async () => {
      const { site } = await session.newSite();
      const page = await view(site);
      await page.evaluate(() => push.subscribe({ userId: 'ada' }).then(() => {}));
      await page.evaluate(fillDisk);
      const leaving = page.evaluate(() =>
        push.identify(null).then(
          () => 'done',
          ({ code }) => code,
        ),
      );
      expect(await leaving).toBe('browser_failed');
    });
  });

  describe('when nothing is stored', () => {
    const erasures = {
      'because a log-out deletes all databases': eraseStorage,
      'because the browser denied storage': undefined,
    };

    test.each(Object.entries(erasures))('%s, a view erases nobody', async (_, erase) => {
      const { project, site } = await session.newSite();
      const card = withOptions(site.files.get('/')!, "channels: ['weather']");
      site.files.set('/', recordFetches + card);
      if (!erase) {
        const deny = 'IDBObjectStore.prototype.put = () => { throw new Error(); };';
        site.files.set('/', `<script>${deny}</script>${recordFetches}${card}`);
      }
      const page = await view(site);
      await page.evaluate(() => push.subscribe({ userId: 'ann', channels: ['news'] }));
      if (erase) await page.evaluate(erase);
      site.files.set('/', recordFetches + card);
      const expected = { userId: 'ann', channels: ['news'] };
      for (const _ of ['first view', 'second view']) {
        const later = await view(site);
        expect(await registered(project)).toEqual(expected);
        await later.evaluate(ageEntry, `${site.origin}/`, twoDaysAgo);
      }
      const { page: last } = await session.open(`${site.origin}/`);
      await last.evaluate(() => push.setChannels(['sport']));
      expect(await registered(project)).toEqual({ userId: 'ann', channels: ['sport'] });
    });

    test('a view with a user id keeps the channels, and a log-out erases the user only', async () => {
      const { project, site } = await session.newSite();
      const card = site.files.get('/')!;
      const page = await view(site);
      await page.evaluate(() => push.subscribe({ userId: 'ann', channels: ['news'] }));
      await page.evaluate(eraseStorage);
      site.files.set('/', withOptions(card, "userId: 'bob'"));
      await (await view(site)).evaluate(eraseStorage);
      expect(await registered(project)).toEqual({ userId: 'bob', channels: ['news'] });
      site.files.set('/', withOptions(card, 'userId: null'));
      await view(site);
      expect(await registered(project)).toEqual({ channels: ['news'] });
    });
  });

  describe('the newest log-in or log-out of any tab', () => {
    /** A tab of Ann, subscribed, and the site as it is for nobody. */
    async function oldTab(script = '') {
      const { project, site } = await session.newSite();
      const card = site.files.get('/')!;
      site.files.set('/', `<script>${script}</script>${withOptions(card, "userId: 'ann'")}`);
      const old = await view(site);
      await old.evaluate(() => push.subscribe({ channels: ['offers'] }));
      return { project, site, card, old };
    }

    test('wins over an old tab that changes its channels', async () => {
      const { project, site, card, old } = await oldTab();
      site.files.set('/', withOptions(card, 'userId: null'));
      await view(site);
      expect(await registered(project)).toEqual({ channels: ['offers'] });
      await old.evaluate(() => push.setChannels(['news']));
      expect(await registered(project)).toEqual({ channels: ['news'] });
      expect(await stateOf(old)).toEqual({ channels: ['news'] });
    });

    test('wins, also by identify(), over an old tab that subscribes again', async () => {
      const { project, site, card, old } = await oldTab();
      site.files.set('/', card);
      const tab = await view(site);
      await tab.evaluate(() => push.identify('bob'));
      await old.evaluate(() => push.subscribe());
      expect(await registered(project)).toEqual({ userId: 'bob', channels: ['offers'] });
      await old.evaluate(() => push.identify('cy'));
      await tab.evaluate(() => push.setChannels([]));
      expect(await registered(project)).toEqual({ userId: 'cy', channels: [] });
    });

    test('wins over an old tab that heard of none of it', async () => {
      // As a page that was in the browser's cache, or suspended, meanwhile.
      const deaf = "Object.defineProperty(BroadcastChannel.prototype, 'onmessage', { set() {} });";
      const { project, site, card, old } = await oldTab(deaf);
      site.files.set('/', withOptions(card, 'userId: null'));
      await view(site);
      await old.evaluate(() => push.setChannels(['news']));
      expect(await registered(project)).toEqual({ channels: ['news'] });
    });

    test.each(['null', "'bob'"])(
      'wins over a page that Back shows from the cache: %s',
      async (userId) => {
        const { project, site, card } = await oldTab();
        let requests = 0;
        site.responses.set('/cached', (_, response) => {
          requests += 1;
          response.setHeader('content-type', 'text/html');
          response.setHeader('cache-control', 'max-age=600');
          // Without it, the browser would keep the page itself, and not run its script again.
          const script = '<script>addEventListener("unload", () => {})</script>';
          response.end(script + withOptions(card, "userId: 'ann'"));
        });
        const { page } = await session.open(`${site.origin}/cached`);
        await page.evaluate(registrationSettled);
        site.files.set('/', withOptions(card, `userId: ${userId}`));
        await page.goto(`${site.origin}/`);
        await page.evaluate(registrationSettled);
        await page.goBack();
        await page.evaluate(registrationSettled);
        expect([await page.evaluate(() => location.pathname), requests]).toEqual(['/cached', 1]);
        const expected = userId === 'null' ? {} : { userId: 'bob' };
        expect(await registered(project)).toEqual({ ...expected, channels: ['offers'] });
        // It still can say who uses the browser.
        await page.evaluate(() => push.identify('cy'));
        expect(await registered(project)).toEqual({ userId: 'cy', channels: ['offers'] });
      },
    );

    test('counts before anybody has subscribed', async () => {
      const { project, site } = await session.newSite();
      const card = site.files.get('/')!;
      site.files.set('/', withOptions(card, "userId: 'ann'"));
      const old = await view(site);
      site.files.set('/', withOptions(card, 'userId: null'));
      await view(site);
      await until('the old tab', async () => (await stateOf(old)).userId === undefined);
      await old.evaluate(() => push.subscribe());
      expect(await registered(project)).toEqual({ channels: [] });
    });

    test('counts while the service does not respond', async () => {
      const { project, site, card, old } = await oldTab();
      const gateway = await startThrottlingGateway(session.stack.baseUrl);
      session.closeLater(gateway.stop);
      const moved = card.replace(session.stack.baseUrl, gateway.origin);
      site.files.set('/', withOptions(moved, 'userId: null'));
      gateway.throttle();
      await view(site);
      expect(await registered(project)).toEqual({ userId: 'ann', channels: ['offers'] });
      await until('the old tab', async () => (await stateOf(old)).userId === undefined);
      await old.evaluate(() => push.setChannels(['news']));
      expect(await registered(project)).toEqual({ channels: ['news'] });
    });

    test('counts after the clock was wrong', async () => {
      const { project, site, card, old } = await oldTab();
      await old.evaluate(ageEntry, `${site.origin}/`, 'saidAt', -30);
      site.files.set('/', withOptions(card, "userId: 'bob'"));
      await view(site);
      expect(await registered(project)).toEqual({ userId: 'bob', channels: ['offers'] });
    });

    test('a page that says nothing of users changes none', async () => {
      const { project, site, card } = await oldTab();
      site.files.set('/', card);
      const tab = await view(site);
      await tab.evaluate(() => push.setChannels([]));
      expect(await registered(project)).toEqual({ userId: 'ann', channels: [] });
    });
  });

  describe('another address, project or key', () => {
    /** A subscribed visitor, and a way to give the page other values. @returns what each view requested. */
    async function visitor() {
      const { project, site } = await session.newSite();
      const card = site.files.get('/')!;
      const page = await view(site);
      await page.evaluate(() => push.subscribe({ userId: 'ann', channels: ['news'] }));
      const endpoint = await page.evaluate(async () => (await push.subscription())!.endpoint);
      async function visit(...changes: readonly (readonly [from: string, to: string])[]) {
        const changed = changes.reduce((text, [from, to]) => text.replace(from, to), card);
        site.files.set('/', recordFetches + changed);
        const view_ = await view(site);
        const requests = await view_.evaluate(() =>
          Promise.all(
            (self as FetchRecord).fetches!.map((one) => one.catch(() => 'none without a response')),
          ),
        );
        const { subscribed } = await view_.evaluate(() => push.state());
        return { page: view_, requests: requests.map((one) => one.split(' ')[0]), subscribed };
      }
      return { project, site, endpoint, visit };
    }

    const all = { userId: 'ann', channels: ['news'] };

    test('a mistyped project loses nobody', async () => {
      const { project, endpoint, visit } = await visitor();
      const wrong = await visit([project.projectId, 'demoo']);
      expect(wrong).toMatchObject({ requests: ['POST'], subscribed: false });
      expect(await registered(project)).toEqual(all);
      const right = await visit();
      expect(right).toMatchObject({ requests: [], subscribed: true });
      expect(await session.stack.subscriptions(project)).toMatchObject([{ endpoint }]);
      expect(await session.stack.send(project, { title: 'Still here' })).toMatchObject({
        delivered: 1,
      });
    });

    test('a mistyped key loses nobody', async () => {
      const { project, endpoint, visit } = await visitor();
      const { applicationServerKey: key } = await session.stack.newProject();
      await visit([project.applicationServerKey, key]);
      expect(await session.stack.subscriptions(project)).toMatchObject([{ endpoint }]);
      const right = await visit();
      expect(right).toMatchObject({ subscribed: true });
      expect(await session.stack.send(project, { title: 'Still here' })).toMatchObject({
        delivered: 1,
      });
    });

    test('of a mistyped project and key, nobody is lost', async () => {
      const { project, endpoint, visit } = await visitor();
      const { applicationServerKey: key } = await session.stack.newProject();
      await visit([project.projectId, 'demoo'], [project.applicationServerKey, key]);
      expect(await session.stack.subscriptions(project)).toMatchObject([{ endpoint }]);
      expect(await visit()).toMatchObject({ requests: [], subscribed: true });
    });

    test('a mistyped address loses nobody', async () => {
      const { project, endpoint, visit } = await visitor();
      await visit([session.stack.baseUrl, 'http://localhost:1']);
      expect(await session.stack.subscriptions(project)).toMatchObject([{ endpoint }]);
      expect(await visit()).toMatchObject({ requests: [], subscribed: true });
    });

    test('of a project with the same key, the new registration comes first', async () => {
      const { project, endpoint, visit } = await visitor();
      const other = await session.stack.newProject(undefined, {}, project.vapid);
      const moved = await visit([project.projectId, other.projectId]);
      expect(moved).toMatchObject({ requests: ['POST', 'DELETE'], subscribed: true });
      expect(await registered(other)).toEqual(all);
      expect(await session.stack.subscriptions(other)).toMatchObject([{ endpoint }]);
      expect(await session.stack.subscriptions(project)).toEqual([]);
    });

    test('a service at another address keeps the subscription; unsubscribe() finds it there', async () => {
      const { project, site, endpoint, visit } = await visitor();
      const gateway = await startThrottlingGateway(session.stack.baseUrl);
      session.closeLater(gateway.stop);
      const { page, requests } = await visit([session.stack.baseUrl, gateway.origin]);
      expect(requests).toEqual(['POST']);
      expect(await session.stack.subscriptions(project)).toMatchObject([{ endpoint }]);
      // The old address is switched off before the next visit.
      const entry = await page.evaluate(readEntry, `${site.origin}/`);
      expect(entry).toMatchObject({ baseUrl: gateway.origin });
      expect(await page.evaluate(() => push.unsubscribe())).toBe(true);
      expect(await session.stack.subscriptions(project)).toEqual([]);
    });
  });
});
