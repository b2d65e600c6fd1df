import type {
  CarillonClient,
  CarillonEvents,
  CloseOptions,
  PushState,
} from '../../sdk/client/carillon.ts';
import { CarillonServer } from '../../sdk/server/carillon-server.ts';
import { until } from '../fixtures/until.ts';
import { closeNotifications, listenToMessages, receivedMessages } from './fixtures/in-page.ts';
import { describeWithSdk } from './fixtures/sdk-session.ts';
import type { SitePage } from './fixtures/site-page.ts';
import type { TestProject } from './fixtures/stack.ts';

/** Declared by the page's script. */
declare const push: CarillonClient;

interface Recorder {
  /** Name and detail of each event. */
  events?: (readonly [string, unknown])[];
  removeListeners?: () => void;
}

describeWithSdk('pages with the SDK in Firefox', (session) => {
  test('state() and the events tell every page what happens', async () => {
    const { project, site, tab, endpoint } = await session.subscribedTab('ada');
    expect(endpoint).toBeDefined();
    const view = await session.open(`${site.origin}/`);
    const state = () => view.page.evaluate(() => push.ready.then(() => push.state()));
    expect(await state()).toEqual({
      supported: true,
      permission: 'granted',
      worker: 'carillon',
      subscribed: true,
      lost: false,
      userId: 'ada',
      channels: [],
    });
    await view.page.evaluate(() => {
      const recorder = window as Recorder;
      const events: [string, unknown][] = [];
      recorder.events = events;
      const names: (keyof CarillonEvents)[] = ['change', 'shown', 'clicked'];
      const removals = names.map((name) => push.on(name, (event) => events.push([name, event])));
      recorder.removeListeners = () => {
        for (const remove of removals) remove();
      };
    });
    const events = () => view.page.evaluate(() => (window as Recorder).events!);
    const received = (count: number) =>
      until(`${count} events`, async () => {
        const found = await events();
        return found.length >= count && found;
      });

    const content = { title: 'An event', url: `${site.origin}/#order`, data: { order: 7 } };
    const { id } = await session.stack.send(project, content);
    expect(await received(1)).toEqual([['shown', { id, data: { order: 7 } }]]);
    await session.firefox.clickNotification('An event');
    expect((await received(2))[1]).toMatchObject([
      'clicked',
      { id, data: { order: 7 }, url: content.url, action: '', cancelable: true },
    ]);
    await tab.identify('grace');
    expect((await received(3))[2]).toMatchObject(['change', { userId: 'grace' }]);
    await tab.unsubscribe();
    expect((await received(4))[3]).toMatchObject([
      'change',
      { subscribed: false, userId: undefined },
    ]);
    await session.firefox.setPermission(site.origin, 'denied');
    // Each tab tells the others, which may not know the permission yet; their own event follows.
    await until('the change', async () => {
      const [name, event] = (await events()).at(-1)!;
      return name === 'change' && (event as PushState).permission === 'denied';
    });

    await view.page.evaluate(() => (window as Recorder).removeListeners!());
    await state();
    const { length } = await events();
    await session.firefox.setPermission(site.origin, 'granted');
    await until('the permission', async () => (await state()).permission === 'granted');
    expect(await events()).toHaveLength(length);
  });

  test('of states that are read at once, the last one told is the newest', async () => {
    const { tab } = await session.subscribedTab('ada');
    const told = await tab.page.evaluate(async () => {
      await push.ready;
      const { getSubscription } = PushManager.prototype;
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const found: boolean[] = [];
      const read = () => push.state().then(({ subscribed }) => found.push(subscribed));
      let first: Promise<unknown> | undefined;
      // The first state is slow: the visitor unsubscribes meanwhile.
      await new Promise<void>((resolve) => {
        PushManager.prototype.getSubscription = async function () {
          PushManager.prototype.getSubscription = getSubscription;
          const subscription = await getSubscription.call(this);
          resolve();
          await released;
          return subscription;
        };
        first = read();
      });
      await push.unsubscribe();
      const second = read();
      // Takes longer than a state.
      for (let reads = 0; reads < 5; reads++) await push.subscription();
      release();
      await Promise.all([first, second]);
      return found;
    });
    expect(told.at(-1)).toBe(false);
  });

  test('deviceId() is the id under which the service lists this browser', async () => {
    const { project, tab, endpoint } = await session.subscribedTab('ada');
    await session.stack.subscribe(project, 'ada');
    const deviceId = () => tab.page.evaluate(() => push.deviceId());
    const { projectId, secretKey } = project;
    const owner = new CarillonServer({ baseUrl: session.stack.baseUrl, projectId, secretKey });
    const own = await deviceId();
    const { devices } = await owner.user('ada');
    expect(devices.filter(({ id }) => id === own)).toHaveLength(1);
    expect(await owner.removeDevice('ada', own!)).toEqual({ removed: 1 });
    const remaining = await session.stack.subscriptions(project);
    expect(remaining).toHaveLength(1);
    expect(remaining).not.toContainEqual(expect.objectContaining({ endpoint }));
    await tab.unsubscribe();
    expect(await deviceId()).toBeUndefined();
  });

  test('a click navigates an open tab of the site, if the service worker controls it', async () => {
    const { project, site, tab } = await session.subscribedTab();
    site.files.set('/order', '<!doctype html><title>Order</title>');
    await tab.page.reload();
    const before = await session.openUrls();
    const url = `${site.origin}/order#status`;
    const { id } = await session.stack.send(project, { title: 'Go there', url });
    await session.firefox.clickNotification('Go there');
    await until('the URL in the tab', () => tab.page.url() === url);
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 1 });
    const after = before.map((open) => (open === `${site.origin}/` ? url : open));
    expect(await session.openUrls()).toEqual(after);

    const { id: next } = await session.stack.send(project, {
      title: 'The end',
      url: `${site.origin}/order#end`,
    });
    await session.firefox.clickNotification('The end');
    await until('the fragment in the tab', () => tab.page.url().endsWith('#end'));
    await session.stack.expectBeacons(project, next, { shown: 1, clicked: 1 });
    expect(await session.openUrls()).toHaveLength(before.length);
  });

  describe('messages while the visitor looks at the site', () => {
    const forPage = { title: 'For the page', whenFocused: 'page', data: { chat: 7 } } as const;

    /** Sends one more message, which is shown: by then, the worker has handled the message before. */
    async function showAnother(project: TestProject): Promise<void> {
      const { id } = await session.stack.send(project, { title: 'Another' });
      await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
    }

    /** Waits until a tab has messages. */
    async function firstMessages({ page }: SitePage): Promise<readonly unknown[]> {
      await until('a message', async () => (await page.evaluate(receivedMessages)).length > 0);
      return page.evaluate(receivedMessages);
    }

    test('the page that has the focus gets the message, and nothing is shown', async () => {
      const { project, site, tab } = await session.subscribedTab();
      await tab.page.evaluate(listenToMessages);
      const url = `${site.origin}/7`;
      const { id } = await session.stack.send(project, { ...forPage, body: 'Body', url });
      const [message] = await firstMessages(tab);
      expect(message).toMatchObject({ id, title: 'For the page', body: 'Body', data: { chat: 7 } });
      expect(message).toMatchObject({ url, actions: [] });
      await showAnother(project);
      expect((await tab.notifications()).map(({ title }) => title)).toEqual(['Another']);
      expect(await session.stack.events(project, id)).toMatchObject({ shown: 0, clicked: 0 });
    });

    test('while another site has the focus, it is shown', async () => {
      const { project, tab } = await session.subscribedTab();
      await tab.page.evaluate(listenToMessages);
      const { site: another } = await session.newSite();
      await session.open(`${another.origin}/`);
      const { id } = await session.stack.send(project, forPage);
      await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
      expect(await tab.notifications()).toMatchObject([{ title: 'For the page' }]);
      expect(await tab.page.evaluate(receivedMessages)).toEqual([]);
    });

    /** What may have the focus and cannot take a message: what is there, and its type. */
    const documents: Readonly<Record<string, readonly [body: string, type: string]>> = {
      'a text': ['Only words', 'text/plain'],
      'a picture': [
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
        'image/svg+xml',
      ],
      data: ['{"a":1}', 'application/json'],
      'a page without the SDK': ['<!doctype html><title>Plain</title>', 'text/html'],
      'a page that is busy': [
        '<script>setInterval(() => { for (const end = Date.now() + 900; Date.now() < end; ); }, 50)</script>CARD',
        'text/html',
      ],
      'a page without a listener': ['CARD', 'text/html'],
      'a page with another listener': [
        "CARD<script>push.on('shown', () => {})</script>",
        'text/html',
      ],
      'a page whose listener was removed': [
        "CARD<script>push.on('message', () => {})()</script>",
        'text/html',
      ],
      'a page whose listener fails': [
        "CARD<script>push.on('message', () => { throw new Error('of the page'); })</script>",
        'text/html',
      ],
    };

    test.each(Object.entries(documents))(
      'while %s has the focus, it is shown',
      async (_, [body, type]) => {
        const { project, site, tab } = await session.subscribedTab();
        await tab.page.evaluate(listenToMessages);
        const card = site.files.get('/')!;
        site.responses.set('/document', (_, response) => {
          response.setHeader('content-type', type).end(body.replace('CARD', card));
        });
        const other = await session.browser.newPage();
        session.closeLater(() => other.close());
        await other.goto(`${site.origin}/document`);
        await other.bringToFront();
        const { id } = await session.stack.send(project, forPage);
        await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
        expect(await tab.page.evaluate(receivedMessages)).toEqual([]);
      },
    );

    test('of two listeners, one that fails does not matter', async () => {
      const { project, site, tab } = await session.subscribedTab();
      await tab.page.evaluate(() => {
        push.on('message', () => {
          throw new Error('of the page');
        });
      });
      await tab.page.evaluate(listenToMessages);
      const { id } = await session.stack.send(project, forPage);
      expect(await firstMessages(tab)).toMatchObject([{ id }]);
      await showAnother(project);
      expect((await tab.notifications()).map(({ title }) => title)).toEqual(['Another']);
      expect(site.origin).toBeDefined();
    });

    test('of several windows, the one with the focus gets it', async () => {
      const { project, site, tab } = await session.subscribedTab();
      const second = await session.open(`${site.origin}/`);
      for (const { page } of [tab, second]) await page.evaluate(listenToMessages);
      await tab.page.bringToFront();
      const { id } = await session.stack.send(project, forPage);
      expect(await firstMessages(tab)).toMatchObject([{ id }]);
      await second.page.bringToFront();
      const { id: later } = await session.stack.send(project, forPage);
      expect(await firstMessages(second)).toMatchObject([{ id: later }]);
      expect(await tab.page.evaluate(receivedMessages)).toHaveLength(1);
      expect(await tab.notifications()).toEqual([]);
    });

    test('WebKit always shows it', async () => {
      const { project, site } = await session.newSite();
      const worker = site.files.get('/carillon-sw.js')!;
      site.files.set(
        '/carillon-sw.js',
        `Object.defineProperty(navigator, 'userAgent', { value: 'AppleWebKit/605.1.15' });${worker}`,
      );
      const tab = await session.open(`${site.origin}/`);
      await tab.subscribe();
      const { id } = await session.stack.send(project, forPage);
      await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
      expect(await tab.notifications()).toMatchObject([{ title: 'For the page' }]);
    });

    test.each(['false', "'false'", '0'])(
      'with `events: %s`, the browser reports nothing, and close() finds what has no address',
      async (events) => {
        const { project, site } = await session.newSite();
        const card = site.files.get('/')!;
        site.files.set('/', card.replace('Carillon.init({', `Carillon.init({ events: ${events},`));
        const tab = await session.open(`${site.origin}/`);
        await tab.subscribe();
        const { id } = await session.stack.send(project, { title: 'Unreported' });
        await until('it', async () => (await tab.notifications()).length === 1);
        site.files.set('/', card);
        await tab.page.reload();
        await tab.page.evaluate(() => push.ready);
        const { id: reported } = await session.stack.send(project, { title: 'Reported' });
        await session.stack.expectBeacons(project, reported, { shown: 1, clicked: 0 });
        await session.stack.expectBeacons(project, id, { shown: 0, clicked: 0 });
        const { id: off } = await session.stack.send(project, { title: 'Off', events: false });
        await until('it', async () => (await tab.notifications()).length === 3);
        expect(await tab.page.evaluate(closeNotifications, { id: off })).toBe(1);
      },
    );

    test('close() removes the notifications with a tag, or the one with an id', async () => {
      const { project, tab } = await session.subscribedTab();
      const send = async (title: string, tag?: string) => {
        const { id } = await session.stack.send(project, { title, tag });
        await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
        return id;
      };
      await send('Chat', 'chat-7');
      const id = await send('News');
      await send('Sale');
      await tab.page.evaluate(async () => {
        const registration = await navigator.serviceWorker.ready;
        // Of the site itself, and of another sender.
        await registration.showNotification('Own', { tag: 'chat-7 own' });
        const events = 'https://push.example/api/v1/projects/another/notifications/1/events';
        await registration.showNotification('Foreign', { tag: 'x', data: { id: 'x', events } });
      });
      const close = (which: CloseOptions) => tab.page.evaluate(closeNotifications, which);
      expect(await close({ tag: 'x' })).toBe(0);
      expect(await close({ id: 'x' })).toBe(0);
      expect(await close({ tag: 'chat-7 own' })).toBe(0);
      expect(await close({ tag: 'chat-7' })).toBe(1);
      expect(await close({ tag: 'chat-7' })).toBe(0);
      expect(await close({ id })).toBe(1);
      await until('the others', async () => (await tab.notifications()).length === 3);
      const titles = (await tab.notifications()).map(({ title }) => title);
      expect(titles.sort()).toEqual(['Foreign', 'Own', 'Sale']);
    });
  });
});
