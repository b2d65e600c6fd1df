import type { Browser, CDPSession, Target } from 'puppeteer-core';
import { pushMessage } from '../../contract/message.ts';
import type { CloseOptions } from '../../sdk/client/carillon.ts';
import { until } from '../fixtures/until.ts';
import { type BeaconServer, startBeaconServer } from './fixtures/beacon-server.ts';
import { describeWith } from './fixtures/browsers.ts';
import { launchChromium } from './fixtures/chromium.ts';
import { closeNotifications, listenToMessages, receivedMessages } from './fixtures/in-page.ts';
import { type Site, startSite } from './fixtures/site.ts';
import { openSite, type ShownNotification, type SitePage } from './fixtures/site-page.ts';

/**
 * Chromium cannot subscribe without a connection to its push service, so these tests pass pushes to the
 * service worker through the debugger.
 */
describeWith('chromium', 'the service worker in Chromium', (executablePath) => {
  let browser: Browser;
  let site: Site;
  let tab: SitePage;
  let deliver: (data: string) => Promise<ShownNotification | undefined>;
  let passPush: (data: string) => Promise<unknown>;
  let stopWorkers: () => Promise<void>;
  let beaconServer: BeaconServer;

  beforeAll(async () => {
    browser = await launchChromium(executablePath);
    beaconServer = await startBeaconServer();
    site = await startSite(beaconServer.origin, { projectId: 'demo', applicationServerKey });
    const worker = site.files.get('/carillon-sw.js');
    // Events are sent after three quarters of their window.
    site.files.set(
      '/carillon-sw.js',
      `Math.random = () => 0.75;${reportBadges(beaconServer)}${worker}`,
    );
    await browser.defaultBrowserContext().overridePermissions(site.origin, ['notifications']);
    tab = await openSite(browser, `${site.origin}/`);
    await until('notification permission', () =>
      tab.page.evaluate(() => Notification.permission === 'granted'),
    );
    ({ passPush, deliver, stopWorkers } = await registerWorker(tab));
  });

  afterEach(async () => {
    await tab.page.evaluate(async () => {
      const registration = await navigator.serviceWorker.ready;
      for (const notification of await registration.getNotifications()) notification.close();
    });
    await until('no notification', async () => (await tab.notifications()).length === 0);
  });

  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    await beaconServer?.stop();
  });

  test('a message is shown with every field and sends a `shown` beacon', async () => {
    const content = {
      title: 'Every field',
      body: 'Body',
      url: `${site.origin}/target`,
      icon: `${site.origin}/icon.png`,
      image: `${site.origin}/image.png`,
      badge: `${site.origin}/badge.png`,
    };
    const id = 'shown';
    const shown = await deliver(
      JSON.stringify(pushMessage(id, content, beaconServer.eventsUrl(id))),
    );
    const { url, ...fields } = content;
    expect(shown).toMatchObject({ ...fields, data: { id, url } });
    await until('the beacon', () => beaconServer.beacons(id).length > 0);
    expect(beaconServer.beacons(id)).toEqual(['shown']);
  });

  test('a notification has the options of its send, and the data of its sender', async () => {
    const options = {
      ...{ tag: 'match', renotify: true, requireInteraction: true, silent: true },
      ...{ lang: 'pt-BR', dir: 'rtl' as const },
    };
    const actions = [
      { action: 'watch', title: 'Watch', url: `${site.origin}/watch` },
      { action: 'mute', title: 'Mute' },
    ];
    const content = {
      ...{ title: 'Goal', url: `${site.origin}/match`, ...options, actions },
      ...{ timestamp: '2026-11-21T19:00:00Z', data: { match: 7 } },
    };
    const message = pushMessage('options', content, beaconServer.eventsUrl('options'));
    expect(await deliver(JSON.stringify(message))).toMatchObject({
      ...options,
      timestamp: Date.UTC(2026, 10, 21, 19),
      actions: actions.map(({ action, title }) => ({ action, title })),
      data: {
        data: { match: 7 },
        urls: { watch: `${site.origin}/watch`, mute: `${site.origin}/match` },
      },
    });
  });

  test('a notification replaces the one with the same tag', async () => {
    for (const title of ['1:0', '2:0']) {
      const content = { title, tag: 'match' };
      await deliver(JSON.stringify(pushMessage(title, content, beaconServer.eventsUrl(title))));
      await until('the beacon', () => beaconServer.beacons(title).length > 0);
    }
    expect((await tab.notifications()).map(({ title }) => title)).toEqual(['2:0']);
  });

  test.each([0, 7])('the app badge becomes %i', async (appBadge) => {
    const id = `badge-${appBadge}`;
    const message = pushMessage(id, { title: id, appBadge }, beaconServer.eventsUrl(id));
    await deliver(JSON.stringify(message));
    await until('the badge', () => beaconServer.beacons(badgeId(appBadge)).length > 0);
  });

  test('each event is one request, without a preflight, to the URL as it is', async () => {
    const id = 'request';
    await deliver(JSON.stringify(pushMessage(id, { title: 'Click' }, beaconServer.eventsUrl(id))));
    await until('the beacon', () => beaconServer.beacons(id).length > 0);
    const requests = beaconServer.requests.filter((request) => request.includes(`/${id}/`));
    expect(requests).toEqual([`POST /${id}/events?tally=3 text/plain;charset=UTF-8`]);
  });

  test('within a window, the notification is shown at once and its beacon is sent later', async () => {
    const id = 'window';
    const message = pushMessage(id, { title: 'Window' }, beaconServer.eventsUrl(id), 4);
    const start = Date.now();
    await deliver(JSON.stringify(message));
    expect(beaconServer.beacons(id)).toEqual([]);
    await until('the beacon', () => beaconServer.beacons(id).length > 0);
    expect(Date.now() - start).toBeGreaterThanOrEqual(2900);
    expect(beaconServer.beacons(id)).toEqual(['shown']);
  });

  test('if the browser stops the worker within the window, the next push sends the beacon', async () => {
    const [first, next] = ['stopped', 'next'];
    const messageOf = (id: string, window?: number) =>
      JSON.stringify(pushMessage(id, { title: id }, beaconServer.eventsUrl(id), window));
    await deliver(messageOf(first, 8));
    await stopWorkers();
    await until('the end of the worker', async () => !browser.targets().some(isWorker));
    await deliver(messageOf(next));
    await until('both beacons', () => beaconServer.beacons(first).length > 0);
    expect(beaconServer.beacons(first)).toEqual(['shown']);
    expect(beaconServer.beacons(next)).toEqual(['shown']);
  });

  test('a message delivered twice is shown once and sends one beacon', async () => {
    const id = 'twice';
    const message = JSON.stringify(pushMessage(id, { title: 'Twice' }, beaconServer.eventsUrl(id)));
    await deliver(message);
    await until('the beacon', () => beaconServer.beacons(id).length > 0);
    await deliver(message);
    const last = 'last';
    await deliver(
      JSON.stringify(pushMessage(last, { title: 'Last' }, beaconServer.eventsUrl(last))),
    );
    await until('the last beacon', () => beaconServer.beacons(last).length > 0);
    expect(beaconServer.beacons(id)).toEqual(['shown']);
    const titles = (await tab.notifications()).map(({ title }) => title);
    expect(titles.sort()).toEqual(['Last', 'Twice']);
  });

  test.each([
    ['an empty push', '', 'localhost'],
    ['text', 'Just words', 'localhost'],
    ['a number', '7', 'localhost'],
    ['malformed JSON', '{"title":', 'localhost'],
    ['a list', '[1,2]', 'localhost'],
    ['JSON of another sender', '{"title":"Foreign"}', 'Foreign'],
    ['wrong types', '{"notification":{"title":{},"icon":7,"navigate":[]}}', 'localhost'],
    [
      'options that Chromium rejects',
      '{"notification":{"title":"T","renotify":true,"dir":"up","actions":[{"title":"a"}],"app_badge":-1}}',
      'T',
    ],
  ])('a notification is shown for %s', async (_, data, title) => {
    const shown = await deliver(data);
    expect(shown?.title).toBe(title);
  });

  describe('with `whenFocused: "page"`', () => {
    const messageOf = (id: string) => {
      const content = { title: id, whenFocused: 'page', data: { chat: 7 } } as const;
      return JSON.stringify(pushMessage(id, content, beaconServer.eventsUrl(id)));
    };

    test('the page that has the focus gets the message, and nothing is shown', async () => {
      await tab.page.bringToFront();
      await tab.page.evaluate(listenToMessages);
      await passPush(messageOf('focused'));
      await until('the message', async () => {
        return (await tab.page.evaluate(receivedMessages)).length > 0;
      });
      expect(await tab.page.evaluate(receivedMessages)).toMatchObject([
        { id: 'focused', title: 'focused', data: { chat: 7 }, url: `${site.origin}/` },
      ]);
      const next = pushMessage('after', { title: 'after' }, beaconServer.eventsUrl('after'));
      await deliver(JSON.stringify(next));
      await until('the beacon', () => beaconServer.beacons('after').length > 0);
      expect(beaconServer.beacons('focused')).toEqual([]);
      expect(await tab.notifications()).toMatchObject([{ title: 'after' }]);
    });

    test('of several windows, only the one with the focus gets it', async () => {
      const second = await openSite(browser, `${site.origin}/`);
      for (const { page } of [tab, second]) await page.evaluate(listenToMessages);
      await second.page.bringToFront();
      await passPush(messageOf('second'));
      await until('the message', async () => {
        return (await second.page.evaluate(receivedMessages)).length > 0;
      });
      expect(await tab.page.evaluate(receivedMessages)).toEqual([]);
      await second.page.close();
    });

    test('while another site has the focus, it is shown', async () => {
      const another = await browser.newPage();
      await another.goto(`${site.origin.replace('localhost', '127.0.0.1')}/`);
      await another.bringToFront();
      expect(await deliver(messageOf('elsewhere'))).toMatchObject({ title: 'elsewhere' });
      await until('the beacon', () => beaconServer.beacons('elsewhere').length > 0);
      await another.close();
    });
  });

  test('close() removes the notifications with a tag, or the one with an id', async () => {
    const events = (id: string) =>
      `${beaconServer.origin}/projects/demo/notifications/${id}/events`;
    const messageOf = (id: string, tag?: string) =>
      JSON.stringify(pushMessage(id, { title: id, tag }, events(id)));
    for (const message of [messageOf('a', 'chat'), messageOf('b'), messageOf('c')]) {
      await deliver(message);
    }
    const close = (which: CloseOptions) => tab.page.evaluate(closeNotifications, which);
    expect(await close({ tag: 'chat' })).toBe(1);
    expect(await close({ id: 'b' })).toBe(1);
    expect(await close({ id: 'b' })).toBe(0);
    await until('one notification', async () => (await tab.notifications()).length === 1);
    expect(await tab.notifications()).toMatchObject([{ title: 'c' }]);
  });

  test('subscribe() rejects if the push service does not respond', async () => {
    // Chromium would wait forever. The SDK's time-out of 30 s is shortened for the test.
    await tab.page.evaluate(() => {
      const { setTimeout } = window;
      window.setTimeout = ((work: () => void, ms: number) =>
        setTimeout(work, ms === 30_000 ? 200 : ms)) as typeof window.setTimeout;
    });
    expect(['timeout', 'push_service_failed']).toContain(await tab.subscribeError());
  });
});

const badgeId = (contents: number | string) => `set-badge-${contents}`;

/** Only the icon of an installed app shows a badge: the worker reports the calls instead. */
const reportBadges = ({ eventsUrl }: BeaconServer) => `
navigator.setAppBadge = async (contents) => {
  await fetch('${eventsUrl(badgeId('CONTENTS'))}'.replace('CONTENTS', contents), { method: 'POST', body: '{"type":"badge"}' });
};
`;

const isWorker = (target: Target) => target.type() === 'service_worker';

const applicationServerKey =
  'BNbxGYNMhEIi9rgmgS4zEbQ0jVmC0MxrHcVwdkqGfNnuFqrHbkqUb3eRjX8UBnKMYBQWCzgYDTjRkCgLlIDtMTc';

/**
 * Registers the site's service worker.
 * @returns functions that pass it a push, that also return the notification that it shows, and that stop it.
 */
async function registerWorker(tab: SitePage) {
  const { page } = tab;
  const { origin } = new URL(page.url());
  const session: CDPSession = await page.createCDPSession();
  const registered = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
      const active = versions.find(({ status }) => status === 'activated');
      if (active !== undefined) resolve(active.registrationId);
    });
  });
  const passPush = (data: string) =>
    session.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data });
  let displayed = 0;
  session.on('BackgroundService.backgroundServiceEventReceived', ({ backgroundServiceEvent }) => {
    if (backgroundServiceEvent.eventName === 'Notification displayed') displayed++;
  });
  await session.send('ServiceWorker.enable');
  const service = 'notifications' as const;
  await session.send('BackgroundService.setRecording', { service, shouldRecord: true });
  await session.send('BackgroundService.startObserving', { service });
  await page.evaluate(async () => {
    await navigator.serviceWorker.register('/carillon-sw.js');
    await navigator.serviceWorker.ready;
  });
  const registrationId = await registered;
  async function deliver(data: string): Promise<ShownNotification | undefined> {
    const before = displayed;
    await passPush(data);
    // The page cannot be asked: getNotifications() makes Chromium drop one that is about to be shown.
    await until('a notification displayed', () => displayed > before);
    return (await tab.notifications()).at(-1);
  }
  return { passPush, deliver, stopWorkers: () => session.send('ServiceWorker.stopAllWorkers') };
}
