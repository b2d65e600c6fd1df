import { readFileSync } from 'node:fs';
import type { CarillonClient } from '../../sdk/client/carillon.ts';
import { until } from '../fixtures/until.ts';
import {
  ageEntry,
  endSubscription,
  type FetchRecord,
  giveDeadEndpoints,
  readEntry,
  recordFetches,
  registrationSettled,
  skipPauses,
  subscriptionState,
} from './fixtures/in-page.ts';
import { describeWithSdk } from './fixtures/sdk-session.ts';
import type { TestProject } from './fixtures/stack.ts';
import { startThrottlingGateway, type ThrottlingGateway } from './fixtures/throttling-gateway.ts';

/** Declared by the page's script. */
declare const push: CarillonClient;

describeWithSdk('subscriptions of the SDK in Firefox', (session) => {
  test('unsubscribe() removes the subscription from the browser and the service', async () => {
    const { project, tab } = await session.subscribedTab();
    expect(await tab.unsubscribe()).toBe(true);
    expect(await tab.endpoint()).toBeUndefined();
    expect(await session.stack.send(project, { title: 'Gone' })).toMatchObject({ attempted: 0 });
    expect(await tab.unsubscribe()).toBe(false);
  });

  test('a page that renews subscribes whoever has allowed notifications, unless they have unsubscribed', async () => {
    const { project, site } = await session.newSite();
    const renewed = async () => {
      const { page } = await session.open(`${site.origin}/`);
      await page.evaluate(registrationSettled);
      return page.evaluate(async () => (await push.subscribe({ renewal: true }))?.endpoint);
    };
    const endpoint = await renewed();
    expect(await session.stack.subscriptions(project)).toMatchObject([{ endpoint }]);
    const tab = await session.open(`${site.origin}/`);
    expect(await tab.unsubscribe()).toBe(true);
    expect(await tab.page.evaluate(() => push.subscribe({ renewal: true }))).toBeUndefined();
    expect(await renewed()).toBeUndefined();
    expect(await session.stack.subscriptions(project)).toEqual([]);
    // A click is a new consent.
    await tab.subscribe();
    expect(await renewed()).toBe(await tab.endpoint());
  });

  test('a browser that has kept the subscription of who has unsubscribed does not register it again', async () => {
    const { project, site, tab } = await session.subscribedTab();
    const ended = await tab.page.evaluate(() => {
      PushSubscription.prototype.unsubscribe = () => Promise.reject(new Error('busy'));
      return push.unsubscribe().then(String, ({ code }) => code);
    });
    expect(ended).toBe('browser_failed');
    expect(await session.stack.subscriptions(project)).toEqual([]);
    const { page } = await session.open(`${site.origin}/`);
    await page.evaluate(registrationSettled);
    await page.evaluate(() => push.setChannels(['news']));
    expect(await session.stack.subscriptions(project)).toEqual([]);
  });

  test('a renewal gives the page no subscription that another tab has ended meanwhile', async () => {
    const { project, site } = await session.newSite();
    const tab = await session.open(`${site.origin}/`);
    const renewed = await tab.page.evaluate(async () => {
      await push.ready;
      const { subscribe } = PushManager.prototype;
      PushManager.prototype.subscribe = async function (options) {
        const subscription = await subscribe.call(this, options);
        // As `unsubscribe()` in another tab leaves it.
        await new Promise<void>((resolve) => {
          const opening = indexedDB.open('carillon', 1);
          opening.onupgradeneeded = () => opening.result.createObjectStore('entries');
          opening.onsuccess = () => {
            const transaction = opening.result.transaction('entries', 'readwrite');
            transaction.objectStore('entries').put(null, `${location.origin}/`);
            transaction.oncomplete = () => resolve();
            opening.result.close();
          };
        });
        return subscription;
      };
      return (await push.subscribe({ renewal: true })) === undefined;
    });
    expect(renewed).toBe(true);
    expect(await tab.endpoint()).toBeUndefined();
    expect(await session.stack.subscriptions(project)).toEqual([]);
  });

  test('the next send removes a subscription that ended only in the browser', async () => {
    const { project, tab } = await session.subscribedTab();
    await tab.page.evaluate(endSubscription);
    const result = await session.stack.send(project, { title: 'Gone' });
    expect(result).toMatchObject({ attempted: 1, removed: 1 });
    expect(await session.stack.subscriptions(project)).toEqual([]);
  });

  test('subscribe() rejects with permission_denied if notifications are blocked', async () => {
    const { project, site } = await session.newSite();
    await session.firefox.setPermission(site.origin, 'denied');
    const tab = await session.open(`${site.origin}/`);
    expect(await tab.subscribeError()).toBe('permission_denied');
    expect(await session.stack.subscriptions(project)).toEqual([]);
  });

  test('a page with another application server key replaces the subscription', async () => {
    const { project, site, endpoint } = await session.subscribedTab('ada');
    const other = await session.stack.newProject();
    const page = site.files.get('/')!;
    site.files.set(
      '/',
      page
        .replace(project.applicationServerKey, other.applicationServerKey)
        .replace(project.projectId, other.projectId),
    );
    const tab = await session.open(`${site.origin}/`);
    const moved = await session.stack.onlyOtherThan(endpoint, other);
    expect(moved).toEqual({ endpoint: await tab.endpoint(), userId: 'ada' });
    await until('no subscription in the first project', async () => {
      return (await session.stack.subscriptions(project)).length === 0;
    });
    expect(await session.stack.send(other, { title: 'Moved' })).toMatchObject({ delivered: 1 });
  });

  test('a visit after a rotation of the key pair replaces the subscription, also at the cap', async () => {
    const { project, site } = await session.newSite();
    const { projectId } = project;
    await session.stack.registry.set(projectId, { subscriberCap: 1 });
    const endpoint = await (await session.open(`${site.origin}/`)).subscribe('ada');
    const { vapidPublicKey } = await session.stack.registry.rotateVapid(projectId);
    const before = await session.stack.send(project, { title: 'Before the visit' });
    expect(before).toMatchObject({ attempted: 1, delivered: 1 });
    await session.stack.expectBeacons(project, before.id, { shown: 1, clicked: 0 });

    const page = site.files.get('/')!;
    site.files.set('/', page.replace(project.applicationServerKey, vapidPublicKey));
    const tab = await session.open(`${site.origin}/`);
    const renewed = await session.stack.onlyOtherThan(endpoint, project);
    expect(renewed).toEqual({ endpoint: await tab.endpoint(), userId: 'ada' });
    const after = await session.stack.send(project, { title: 'After the visit' });
    expect(after).toMatchObject({ attempted: 1, delivered: 1 });
    await session.stack.expectBeacons(project, after.id, { shown: 1, clicked: 0 });
    const titles = (await tab.notifications()).map(({ title }) => title);
    expect(titles.sort()).toEqual(['After the visit', 'Before the visit']);
  });

  test('a page with another address of the service keeps the subscription', async () => {
    const { project, site, endpoint } = await session.subscribedTab('ada');
    const gateway = await startThrottlingGateway(session.stack.baseUrl);
    session.closeLater(gateway.stop);
    const page = site.files.get('/')!;
    site.files.set('/', recordFetches + page.replace(session.stack.baseUrl, gateway.origin));
    const tab = await session.open(`${site.origin}/`);
    await tab.page.evaluate(registrationSettled);
    const requests = await tab.page.evaluate(() => Promise.all((window as FetchRecord).fetches!));
    expect(requests).toEqual([`POST ${gateway.origin}/api/v1/projects/${project.projectId}`]);
    expect(await session.stack.subscriptions(project)).toMatchObject([{ endpoint, userId: 'ada' }]);
  });

  test('subscribe() never sends a dead endpoint to the service', async () => {
    const { project, site } = await session.newSite();
    site.files.set('/', recordFetches + site.files.get('/'));
    const tab = await session.open(`${site.origin}/`);
    await tab.page.evaluate(skipPauses);
    await tab.page.evaluate(giveDeadEndpoints, 3);
    expect(await tab.subscribeError()).toBe('push_service_failed');
    expect(await tab.endpoint()).toBeUndefined();
    expect(await tab.page.evaluate(() => (window as FetchRecord).fetches!.length)).toBe(0);

    const endpoint = await tab.subscribe();
    expect(await session.stack.subscriptions(project)).toMatchObject([{ endpoint }]);
    expect(await session.stack.send(project, { title: 'It works' })).toMatchObject({
      delivered: 1,
    });
  });

  test('a page view replaces a subscription whose endpoint is dead', async () => {
    const { project, site, tab, endpoint } = await session.subscribedTab('ada');
    await tab.page.evaluate(giveDeadEndpoints, 1);
    expect(await tab.page.evaluate(subscriptionState)).toEqual({ subscribed: false, lost: true });
    expect(await tab.endpoint()).toBeUndefined();

    const script = `<script>(${giveDeadEndpoints})(1)</script>`;
    site.files.set('/', script + site.files.get('/'));
    const view = await session.open(`${site.origin}/`);
    await view.page.evaluate(registrationSettled);
    expect(await view.page.evaluate(subscriptionState)).toEqual({ subscribed: true, lost: false });
    const [renewed] = await session.stack.subscriptions(project);
    expect(renewed).toEqual({ endpoint: await view.endpoint(), userId: 'ada' });
    expect(renewed!.endpoint).not.toBe(endpoint);
    expect(await session.stack.send(project, { title: 'It works' })).toMatchObject({
      delivered: 1,
    });
  });

  test('a consent, and the time of the first registration, pass to the next endpoint', async () => {
    const { project, site } = await session.newSite();
    const tab = await session.open(`${site.origin}/`);
    await tab.page.evaluate(() => push.subscribe({ consent: 'v3' }).then(() => {}));
    const endpoint = (await tab.endpoint())!;
    const stored = async () => (await session.stack.proofs(project))[0]!;
    const { createdAt } = await stored();
    expect(await stored()).toEqual({ consent: 'v3', createdAt });
    await tab.page.evaluate(endSubscription);
    await (await session.open(`${site.origin}/`)).page.evaluate(registrationSettled);
    await session.stack.onlyOtherThan(endpoint, project);
    expect(await stored()).toMatchObject({ consent: 'v3', firstAt: createdAt });
    await tab.page.evaluate(() => push.subscribe({ consent: 'v4' }).then(() => {}));
    expect(await stored()).toMatchObject({ consent: 'v4', firstAt: createdAt });
  });

  test('the documented page that subscribes at load does so as a renewal', async () => {
    const text = readFileSync('docs/sdk.md', 'utf8');
    const [, recipe] = /### Allowed, and not subscribed.*?```js\n(.*?)```/s.exec(text)!;
    const { project, site } = await session.newSite();
    const bodies = `<script>
      const bodies = [], request = self.fetch;
      self.fetch = (url, init) => { bodies.push(init?.body); return request(url, init); };
    </script>`;
    const script = `<script type="module">${recipe}</script>`;
    site.files.set('/', bodies + site.files.get('/') + script);
    const { page } = await session.open(`${site.origin}/`);
    await until('a subscription', async () => (await session.stack.subscriptions(project))[0]);
    const [body] = (await page.evaluate('bodies.filter(Boolean)')) as string[];
    expect(JSON.parse(body!)).toMatchObject({ renewal: true });
  });

  test('the worker never registers a dead endpoint', async () => {
    const { project, site } = await session.newSite();
    const worker = site.files.get('/carillon-sw.js');
    site.files.set('/carillon-sw.js', `(${giveDeadEndpoints})(1);${worker}`);
    const tab = await session.open(`${site.origin}/`);
    const endpoint = await tab.subscribe('ada');
    await tab.page.close();
    session.stack.pushService.realBrowsers.forget();
    await session.stack.onlyOtherThan(endpoint, project);
    expect(await session.stack.send(project, { title: 'It works' })).toMatchObject({
      delivered: 1,
    });
  });

  test('a page knows that a subscription was lost, until the visitor unsubscribes', async () => {
    const { site, tab } = await session.subscribedTab('ada');
    const state = () => tab.page.evaluate(subscriptionState);
    expect(await state()).toEqual({ subscribed: true, lost: false });
    await session.firefox.setPermission(site.origin, 'denied');
    await until('the loss', async () => (await state()).lost);
    await tab.page.reload();
    await tab.page.evaluate(registrationSettled);
    expect((await state()).lost).toBe(true);

    await session.firefox.setPermission(site.origin, 'granted');
    await tab.page.reload();
    await tab.page.evaluate(registrationSettled);
    expect(await state()).toEqual({ subscribed: true, lost: false });
    await tab.page.evaluate(endSubscription);
    expect(await state()).toEqual({ subscribed: false, lost: true });
    expect(await tab.unsubscribe()).toBe(true);
    expect(await state()).toEqual({ subscribed: false, lost: false });
  });

  const storedChannels = async (project: TestProject) =>
    (await session.stack.subscriptions(project)).map(({ channels = [] }) => [...channels].sort());

  test('a visitor subscribes with channels and changes them; the worker keeps them in a renewal', async () => {
    const { project, site } = await session.newSite();
    site.files.set('/', `<!doctype html><html lang="sr-Latn">${site.files.get('/')}`);
    const { page } = await session.open(`${site.origin}/`);
    await page.evaluate(() => push.subscribe({ channels: ['news', 'sales'], userId: 'ada' }));
    expect(await storedChannels(project)).toEqual([['news', 'sales']]);
    expect(await page.evaluate(() => push.channels())).toEqual(['news', 'sales']);

    const seen = page.evaluate(
      () => new Promise((resolve) => push.on('change', ({ channels }) => resolve(channels))),
    );
    await page.evaluate(() => push.setChannels(['sales']));
    expect(await storedChannels(project)).toEqual([['sales']]);
    expect(await seen).toEqual(['sales']);
    const refused = await page.evaluate(() =>
      push.setChannels(['Sales']).catch(({ code }) => code),
    );
    expect(refused).toBe('invalid_options');
    expect(await page.evaluate(() => push.channels())).toEqual(['sales']);
    await page.close();

    const [before] = await session.stack.subscriptions(project);
    session.stack.pushService.realBrowsers.forget();
    const renewed = await session.stack.onlyOtherThan(before!.endpoint, project);
    expect(renewed).toMatchObject({ userId: 'ada', channels: ['sales'] });
    expect(await session.stack.locales(project)).toEqual(['sr-Latn']);
    expect(await session.stack.send(project, { title: 'News', channels: ['news'] })).toMatchObject({
      attempted: 0,
    });
    const { id, delivered } = await session.stack.send(project, {
      title: 'Sale',
      channels: ['sales'],
    });
    expect(delivered).toBe(1);
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
  });

  test('channels of init apply until the visitor has chosen others', async () => {
    const { project, site } = await session.newSite();
    const page = site.files.get('/')!;
    const withChannels = page.replace('projectId:', "channels: ['news'], projectId:");
    expect(withChannels).not.toBe(page);
    const first = await session.open(`${site.origin}/`);
    await first.subscribe();
    expect(await storedChannels(project)).toEqual([[]]);

    site.files.set('/', withChannels);
    const second = await session.open(`${site.origin}/`);
    await second.page.evaluate(registrationSettled);
    expect(await storedChannels(project)).toEqual([['news']]);
    await second.page.evaluate(() => push.setChannels([]));
    expect(await storedChannels(project)).toEqual([[]]);

    site.files.set('/', recordFetches + withChannels);
    const third = await session.open(`${site.origin}/`);
    await third.page.evaluate(registrationSettled);
    expect(await third.page.evaluate(() => (window as FetchRecord).fetches)).toEqual([]);
    expect(await third.page.evaluate(() => push.channels())).toEqual([]);
    expect(await storedChannels(project)).toEqual([[]]);
  });

  describe('while the gateway throttles', () => {
    let gateway: ThrottlingGateway;

    beforeEach(async () => {
      gateway = await startThrottlingGateway(session.stack.baseUrl);
      session.closeLater(gateway.stop);
    });

    test('page views make one request, and register again after the pause', async () => {
      const { project, site, tab } = await session.subscribedTab('ada', gateway.origin);
      const scope = `${site.origin}/`;
      const failures = `failures ${scope}`;
      await tab.page.evaluate(ageEntry, scope, 'registeredAt');
      const { registeredAt } = await tab.page.evaluate(readEntry, scope);
      gateway.throttle();
      for (const _ of ['first view', 'second view', 'third view']) {
        const view = await session.open(scope);
        await view.page.evaluate(registrationSettled);
        await view.identify('ada');
      }
      expect(gateway.refused).toBe(1);
      expect(await tab.page.evaluate(readEntry, failures)).toMatchObject({ count: 1 });

      gateway.throttle(0);
      await tab.page.evaluate(ageEntry, failures, 'notBefore');
      const view = await session.open(scope);
      await view.page.evaluate(registrationSettled);
      expect((await tab.page.evaluate(readEntry, scope)).registeredAt).toBeGreaterThan(
        registeredAt!,
      );
      expect(await tab.page.evaluate(readEntry, failures)).toEqual({});
      expect(await session.stack.subscriptions(project)).toMatchObject([{ userId: 'ada' }]);
    });

    test('the worker registers a new endpoint after a failed attempt', async () => {
      const { project, site } = await session.newSite(gateway.origin);
      const worker = site.files.get('/carillon-sw.js');
      site.files.set('/carillon-sw.js', `(${skipPauses})();${worker}`);
      const tab = await session.open(`${site.origin}/`);
      const endpoint = await tab.subscribe('ada');
      await tab.page.close();
      // The removal of the old endpoint, and the registration of the new one.
      gateway.throttle(2);
      session.stack.pushService.realBrowsers.forget();
      await session.stack.onlyOtherThan(endpoint, project);
      expect(gateway.refused).toBe(2);
    });
  });
});
