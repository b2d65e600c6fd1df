import { until } from '../fixtures/until.ts';
import { push as pushDirectly } from '../local/push-service/sender.ts';
import { describeWith } from './fixtures/browsers.ts';
import { type Firefox, launchFirefox } from './fixtures/firefox.ts';
import { type Site, startSite } from './fixtures/site.ts';
import { openSite, type SitePage } from './fixtures/site-page.ts';
import { type BrowserStack, startBrowserStack, type TestProject } from './fixtures/stack.ts';
import { startThrottlingGateway, type ThrottlingGateway } from './fixtures/throttling-gateway.ts';

/**
 * The SDK in Firefox, on sites of other origins than the API's, with real encryption: the message
 * goes from the send function through the push service into the browser, which decrypts it.
 */
describeWith('firefox', 'the SDK in Firefox', (executablePath) => {
  let stack: BrowserStack;
  let firefox: Firefox;
  const opened: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    stack = await startBrowserStack();
    firefox = await launchFirefox({ executablePath, pushService: stack.pushService.origin });
  });

  afterAll(async () => {
    await firefox?.close();
    await stack?.stop();
  });

  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
    await firefox.closeNotifications();
  });

  async function newSite(baseUrl = stack.baseUrl): Promise<{ project: TestProject; site: Site }> {
    const project = await stack.newProject();
    const site = await startSite(baseUrl, project);
    opened.push(site.stop);
    return { project, site };
  }

  async function open(url: string, { browser } = firefox): Promise<SitePage> {
    const tab = await openSite(browser, url);
    opened.push(() => tab.page.close().catch(() => {}));
    return tab;
  }

  /** A browser that is subscribed to a project of its own, on a site of its own. */
  async function subscribedTab(userId?: string, baseUrl = stack.baseUrl) {
    const { project, site } = await newSite(baseUrl);
    const tab = await open(`${site.origin}/`);
    const endpoint = await tab.subscribe(userId);
    return { project, site, tab, endpoint };
  }

  const urlsOpen = async () => (await firefox.browser.pages()).map((page) => page.url());

  test('a notification is shown with every field and reported as shown', async () => {
    const { project, site, tab } = await subscribedTab();
    const content = {
      title: 'Every field',
      body: 'A body with ünïcödé 🔔',
      url: `${site.origin}/target`,
      icon: `${site.origin}/icon.png`,
      image: `${site.origin}/image.png`,
      badge: `${site.origin}/badge.png`,
    };
    const { id, ...counts } = await stack.send(project, content);
    expect(counts).toEqual({ attempted: 1, delivered: 1, removed: 0, failed: 0 });
    await stack.beacons(project, id, { shown: 1, clicked: 0 });
    const [shown, ...others] = await tab.notifications();
    expect(others).toEqual([]);
    const { title, body, icon } = content;
    expect(shown).toMatchObject({ title, body, icon, data: { id, url: content.url } });
    // Firefox knows no image; what it knows, it got.
    for (const name of ['image', 'badge'] as const) {
      if (shown![name] !== undefined) expect(shown![name]).toBe(content[name]);
    }
  });

  test('a click opens the URL, closes the notification and is reported', async () => {
    const { project, site, tab } = await subscribedTab();
    site.files.set('/target', '<!doctype html><title>Target</title>');
    const url = `${site.origin}/target`;
    const { id } = await stack.send(project, { title: 'Click me', url });
    await firefox.clickNotification('Click me');
    await stack.beacons(project, id, { shown: 1, clicked: 1 });
    await until('the URL open', async () => (await urlsOpen()).includes(url));
    expect(await tab.notifications()).toEqual([]);
  });

  test('a click focuses a tab that shows the URL already', async () => {
    const { project, tab } = await subscribedTab();
    const url = tab.page.url();
    const before = await urlsOpen();
    const { id } = await stack.send(project, { title: 'Come back', url });
    await firefox.clickNotification('Come back');
    await stack.beacons(project, id, { shown: 1, clicked: 1 });
    expect(await urlsOpen()).toEqual(before);
  });

  test('a push is shown and reported after the tab is closed', async () => {
    const { project, site, tab } = await subscribedTab();
    await tab.page.close();
    const { id } = await stack.send(project, { title: 'Nobody is here' });
    await stack.beacons(project, id, { shown: 1, clicked: 0 });
    const again = await open(`${site.origin}/`);
    expect(await again.notifications()).toMatchObject([{ title: 'Nobody is here' }]);
  });

  test('a targeted send reaches the one of two browsers that is named', async () => {
    const second = await launchFirefox({ executablePath, pushService: stack.pushService.origin });
    opened.push(second.close);
    const { project, site } = await newSite();
    const ada = await open(`${site.origin}/`);
    const grace = await open(`${site.origin}/`, second);
    await ada.subscribe('ada');
    await grace.subscribe('grace');
    const { id, attempted } = await stack.send(project, { title: 'For Grace', userIds: ['grace'] });
    expect(attempted).toBe(1);
    await stack.beacons(project, id, { shown: 1, clicked: 0 });
    expect(await grace.notifications()).toMatchObject([{ title: 'For Grace' }]);
    expect(await ada.notifications()).toEqual([]);
    const { attempted: all } = await stack.send(project, { title: 'For both' });
    expect(all).toBe(2);
  });

  test('after unsubscribe() a send attempts nothing', async () => {
    const { project, tab } = await subscribedTab();
    expect(await tab.unsubscribe()).toBe(true);
    expect(await tab.endpoint()).toBeUndefined();
    expect(await stack.send(project, { title: 'Gone' })).toMatchObject({ attempted: 0 });
    expect(await tab.unsubscribe()).toBe(false);
  });

  test('a subscription that ended in the browser alone is removed by the next send', async () => {
    const { project, tab } = await subscribedTab();
    await tab.page.evaluate(async () => {
      const registration = await navigator.serviceWorker.getRegistration();
      await (await registration!.pushManager.getSubscription())!.unsubscribe();
    });
    const result = await stack.send(project, { title: 'Gone' });
    expect(result).toMatchObject({ attempted: 1, removed: 1 });
    expect(await stack.subscriptions(project)).toEqual([]);
  });

  test('permission denied ends in an error of that code', async () => {
    const denying = await launchFirefox({
      executablePath,
      pushService: stack.pushService.origin,
      permission: 'denied',
    });
    opened.push(denying.close);
    const { project, site } = await newSite();
    const tab = await open(`${site.origin}/`, denying);
    expect(await tab.subscribeError()).toBe('permission_denied');
    expect(await stack.subscriptions(project)).toEqual([]);
  });

  test('a browser whose push identity is lost registers its new endpoint by itself', async () => {
    const { project, endpoint, tab } = await subscribedTab('ada');
    await tab.page.close();
    stack.pushService.realBrowsers.forget();
    const [renewed] = await until('the new endpoint alone', async () => {
      const subscriptions = await stack.subscriptions(project);
      return subscriptions.length === 1 && subscriptions[0]!.endpoint !== endpoint && subscriptions;
    });
    expect(renewed!.userId).toBe('ada');
    const { id, delivered } = await stack.send(project, { title: 'Found again' });
    expect(delivered).toBe(1);
    await stack.beacons(project, id, { shown: 1, clicked: 0 });
  });

  test('a page registers again what the service has lost, once a day', async () => {
    const { project, site, tab, endpoint } = await subscribedTab('ada');
    const path = `${stack.baseUrl}/api/v1/projects/${project.projectId}`;
    await fetch(`${path}?endpoint=${encodeURIComponent(endpoint)}`, { method: 'DELETE' });
    const view = await open(`${site.origin}/`);
    await view.page.evaluate(registrationSettled);
    expect(await stack.subscriptions(project)).toEqual([]);
    await tab.page.evaluate(age, `${site.origin}/`, 'registeredAt');
    await open(`${site.origin}/`);
    const [subscription] = await until('the subscription back', async () => {
      const subscriptions = await stack.subscriptions(project);
      return subscriptions.length > 0 && subscriptions;
    });
    expect(subscription).toMatchObject({ endpoint, userId: 'ada' });
  });

  describe('while the gateway throttles', () => {
    let gateway: ThrottlingGateway;

    beforeEach(async () => {
      gateway = await startThrottlingGateway(stack.baseUrl);
      opened.push(gateway.stop);
    });

    test('page views make one request, and register again after the pause', async () => {
      const { project, site, tab } = await subscribedTab('ada', gateway.origin);
      const scope = `${site.origin}/`;
      const failures = `failures ${scope}`;
      await tab.page.evaluate(age, scope, 'registeredAt');
      const { registeredAt } = await tab.page.evaluate(stored, scope);
      gateway.throttle();
      for (const _ of ['first view', 'second view', 'third view']) {
        const view = await open(scope);
        await view.page.evaluate(registrationSettled);
        await view.identify('ada');
      }
      expect(gateway.refused).toBe(1);
      expect(await tab.page.evaluate(stored, failures)).toMatchObject({ count: 1 });

      gateway.throttle(0);
      await tab.page.evaluate(age, failures, 'notBefore');
      const view = await open(scope);
      await view.page.evaluate(registrationSettled);
      expect((await tab.page.evaluate(stored, scope)).registeredAt).toBeGreaterThan(registeredAt!);
      expect(await tab.page.evaluate(stored, failures)).toEqual({});
      expect(await stack.subscriptions(project)).toMatchObject([{ userId: 'ada' }]);
    });

    test('subscribe() makes three attempts, and a failed one leaves no subscription', async () => {
      const { project, site } = await newSite(gateway.origin);
      const tab = await open(`${site.origin}/`);
      await tab.page.evaluate(skipPauses);
      gateway.throttle();
      expect(await tab.subscribeError()).toBe('network_error');
      expect(gateway.refused).toBe(3);
      expect(await tab.endpoint()).toBeUndefined();
      gateway.throttle(2);
      const endpoint = await tab.subscribe();
      expect(await stack.subscriptions(project)).toMatchObject([{ endpoint }]);
    });

    test('the worker registers a new endpoint after a failed attempt', async () => {
      const { project, site } = await newSite(gateway.origin);
      const worker = site.files.get('/carillon-sw.js');
      site.files.set('/carillon-sw.js', `(${skipPauses})();${worker}`);
      const tab = await open(`${site.origin}/`);
      const endpoint = await tab.subscribe('ada');
      await tab.page.close();
      gateway.throttle(1);
      stack.pushService.realBrowsers.forget();
      await until('the new endpoint alone', async () => {
        const subscriptions = await stack.subscriptions(project);
        return subscriptions.length === 1 && subscriptions[0]!.endpoint !== endpoint;
      });
      expect(gateway.refused).toBe(1);
    });
  });

  test('a page with another application server key subscribes the browser anew', async () => {
    const { project, site, endpoint } = await subscribedTab('ada');
    const other = await stack.newProject();
    const page = site.files.get('/')!;
    site.files.set(
      '/',
      page
        .replace(project.applicationServerKey, other.applicationServerKey)
        .replace(project.projectId, other.projectId),
    );
    const tab = await open(`${site.origin}/`);
    const [moved] = await until('the subscription with the other project', async () => {
      const subscriptions = await stack.subscriptions(other);
      return subscriptions.length > 0 && subscriptions;
    });
    expect(moved!.endpoint).not.toBe(endpoint);
    expect(await tab.endpoint()).toBe(moved!.endpoint);
    await until('none with the first', async () => {
      return (await stack.subscriptions(project)).length === 0;
    });
    expect(await stack.send(other, { title: 'Anew' })).toMatchObject({ delivered: 1 });
  });

  test('a service with a second address keeps the subscription when a page moves there', async () => {
    const { project, site, endpoint } = await subscribedTab('ada');
    const gateway = await startThrottlingGateway(stack.baseUrl);
    opened.push(gateway.stop);
    const page = site.files.get('/')!;
    site.files.set('/', recordFetches + page.replace(stack.baseUrl, gateway.origin));
    const tab = await open(`${site.origin}/`);
    await tab.page.evaluate(registrationSettled);
    const requests = await tab.page.evaluate(() => Promise.all((window as FetchRecord).fetches!));
    expect(requests).toEqual([`POST ${gateway.origin}/api/v1/projects/${project.projectId}`]);
    expect(await stack.subscriptions(project)).toMatchObject([{ endpoint, userId: 'ada' }]);
  });

  test('identify() moves the subscription to a user and away again', async () => {
    const { project, tab } = await subscribedTab();
    await tab.identify('ada');
    expect(await stack.subscriptions(project)).toMatchObject([{ userId: 'ada' }]);
    await tab.identify(null);
    expect((await stack.subscriptions(project))[0]!.userId).toBeUndefined();
  });

  test('a message delivered twice is reported once', async () => {
    const { project, tab } = await subscribedTab();
    const { id } = await stack.send(project, { title: 'Once' });
    await stack.beacons(project, id, { shown: 1, clicked: 0 });
    const subscription = await subscriptionOf(tab);
    const events = `${stack.baseUrl}/api/v1/projects/${project.projectId}/notifications/${id}/events`;
    const data = { carillon: 1, id, events };
    const again = JSON.stringify({ web_push: 8030, notification: { title: 'Twice', data } });
    await pushDirectly({ toJSON: () => subscription }, again, project.vapid);
    await until('the second delivery shown in place of the first', async () => {
      const shown = await tab.notifications();
      return shown.length === 1 && shown[0]!.title === 'Twice';
    });
    const { id: later } = await stack.send(project, { title: 'Later' });
    await stack.beacons(project, later, { shown: 1, clicked: 0 });
    expect(await stack.record(project, id)).toMatchObject({ shown: 1, clicked: 0 });
  });

  test.each([
    ['text', 'Just words', { title: 'localhost', body: 'Just words' }],
    ['an empty text', '""', { title: 'localhost' }],
    ['JSON of another sender', '{"title":"Foreign","body":"Words"}', { title: 'Foreign' }],
    ['a null', 'null', { title: 'localhost' }],
    ['wrong types', '{"notification":{"title":7,"data":{"carillon":1}}}', { title: 'localhost' }],
  ])('a push of %s is shown all the same', async (_, payload, expected) => {
    const { project, tab } = await subscribedTab();
    const subscription = await subscriptionOf(tab);
    const answer = await pushDirectly({ toJSON: () => subscription }, payload, project.vapid);
    expect(answer.status).toBe(201);
    const shown = await until('a notification', async () => (await tab.notifications())[0]);
    expect(shown).toMatchObject(expected);
  });

  test('imported into a site’s worker, it leaves other senders’ pushes to that', async () => {
    const { project, site } = await newSite();
    site.files.set('/sw.js', foreignWorker);
    site.files.set('/', site.files.get('/')!.replace('});', "  serviceWorker: '/sw.js',\n  });"));
    const tab = await open(`${site.origin}/`);
    await tab.subscribe();
    const subscription = await subscriptionOf(tab);
    await pushDirectly({ toJSON: () => subscription }, '{"foreign":"Hello"}', project.vapid);
    await until('the foreign notification', async () => {
      return (await tab.notifications()).some(({ title }) => title === 'Foreign: Hello');
    });
    const { id } = await stack.send(project, { title: 'Ours' });
    await stack.beacons(project, id, { shown: 1, clicked: 0 });
    const titles = (await tab.notifications()).map(({ title }) => title);
    expect(titles.sort()).toEqual(['Foreign: Hello', 'Ours']);
    await firefox.clickNotification('Foreign: Hello');
    await until('the foreign click', async () => {
      return (await urlsOpen()).includes(`${site.origin}/?foreign-click`);
    });
    expect(await stack.record(project, id)).toMatchObject({ shown: 1, clicked: 0 });
  });

  test('a service that hangs holds back neither the notification nor the next one', async () => {
    const { project, site, tab } = await subscribedTab();
    const subscription = await subscriptionOf(tab);
    // A request to it is accepted and never answered.
    const events = `${stack.pushService.origin}/hangs`;
    for (const id of ['one', 'two']) {
      const data = { carillon: 1, id, events };
      const message = JSON.stringify({ notification: { title: id, navigate: site.origin, data } });
      await pushDirectly({ toJSON: () => subscription }, message, project.vapid);
    }
    await until('both notifications', async () => (await tab.notifications()).length === 2);
  });
});

function subscriptionOf({ page }: SitePage) {
  return page.evaluate(async () => {
    const registration = await navigator.serviceWorker.getRegistration();
    const subscription = await registration!.pushManager.getSubscription();
    return subscription!.toJSON() as { endpoint: string; keys: { p256dh: string; auth: string } };
  });
}

/** Members of what the SDK stores. */
interface Stored {
  readonly registeredAt?: number;
  readonly count?: number;
  readonly notBefore?: number;
}

/** In the page: what the SDK has stored under this key. */
function stored(key: string): Promise<Stored> {
  return new Promise((resolve) => {
    const opening = indexedDB.open('carillon', 1);
    opening.onsuccess = () => {
      const transaction = opening.result.transaction('entries', 'readonly');
      const reading = transaction.objectStore('entries').get(key);
      transaction.oncomplete = () => {
        opening.result.close();
        resolve({ ...reading.result });
      };
    };
  });
}

/** In the page: makes a stored time two days earlier. */
function age(key: string, member: string): Promise<void> {
  return new Promise((resolve) => {
    const opening = indexedDB.open('carillon', 1);
    opening.onsuccess = () => {
      const transaction = opening.result.transaction('entries', 'readwrite');
      const entries = transaction.objectStore('entries');
      const reading = entries.get(key);
      reading.onsuccess = () => {
        const time = reading.result[member] - 2 * 24 * 60 * 60 * 1000;
        entries.put({ ...reading.result, [member]: time }, key);
      };
      transaction.oncomplete = () => {
        opening.result.close();
        resolve();
      };
    };
  });
}

/** In the page: waits for the attempt that `init()` makes, since the SDK's lock queues. */
async function registrationSettled(): Promise<void> {
  await navigator.locks.request('carillon', () => {});
}

interface FetchRecord {
  /** Each becomes the method and URL once it has ended. */
  readonly fetches?: readonly Promise<string>[];
}

/** First line of a page: keeps each request, so that a test can wait for those that nothing awaits. */
const recordFetches = `<script>
const send = window.fetch;
window.fetches = [];
window.fetch = (url, init) => {
  const response = send(url, init);
  fetches.push(response.then(() => init.method + ' ' + url));
  return response;
};
</script>`;

/** In a page or worker: lets the pauses before retries pass at once, for the clock as well. */
function skipPauses(): void {
  const { setTimeout } = self;
  const { now } = Date;
  let skippedMs = 0;
  Date.now = () => now() + skippedMs;
  self.setTimeout = ((work: () => void, ms: number) => {
    // The time that the push service gets is no pause.
    if (ms >= 30_000) return setTimeout(work, ms);
    skippedMs += ms;
    return setTimeout(work);
  }) as typeof self.setTimeout;
}

/** A site's own worker for its own pushes, of a kind that takes every push for its own. */
const foreignWorker = `
importScripts('/carillon-sw.js');
self.addEventListener('push', (event) => {
  const { foreign } = event.data.json();
  event.waitUntil(self.registration.showNotification('Foreign: ' + foreign));
});
self.addEventListener('notificationclick', (event) => {
  event.waitUntil(self.clients.openWindow('/?foreign-click'));
});
`;
