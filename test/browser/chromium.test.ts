import type { Browser, Target } from 'puppeteer-core';
import { pushMessage } from '../../contract/wire/message.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { until } from '../fixtures/until.ts';
import { type BeaconServer, startBeaconServer } from './fixtures/beacon-server.ts';
import { describeWith } from './fixtures/browsers.ts';
import { launchChromium, passPushesTo } from './fixtures/chromium.ts';
import { listenToMessages, receivedMessages } from './fixtures/in-page.ts';
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
    const shown = {
      ...{ title: 'Every field', body: 'Body', icon: `${site.origin}/icon.png` },
      ...{ image: `${site.origin}/image.png`, badge: `${site.origin}/badge.png` },
      ...{ tag: 'match', renotify: true, requireInteraction: true, silent: true },
      ...{ lang: 'pt-BR', dir: 'rtl' as const },
    };
    const actions = [
      { action: 'watch', title: 'Watch', url: `${site.origin}/watch` },
      { action: 'mute', title: 'Mute' },
    ];
    const content = {
      ...{ ...shown, url: `${site.origin}/match`, actions },
      ...{ timestamp: '2026-11-21T19:00:00Z', data: { match: 7 } },
    };
    const id = 'shown';
    const message = pushMessage(id, content, beaconServer.eventsUrl(id));
    expect(await deliver(JSON.stringify(message))).toMatchObject({
      ...shown,
      timestamp: Date.UTC(2026, 10, 21, 19),
      actions: actions.map(({ action, title }) => ({ action, title })),
      data: {
        ...{ id, url: `${site.origin}/match`, data: { match: 7 } },
        urls: { watch: `${site.origin}/watch`, mute: `${site.origin}/match` },
      },
    });
    await until('the beacon', () => beaconServer.beacons(id).length > 0);
    expect(beaconServer.beacons(id)).toEqual(['shown']);
  });

  test.each([
    ['of Carillon', (image: object) => pushMessage('images', { title: 'Images', ...image }, '')],
    ['of another sender', (image: object) => ({ title: 'Images', ...image })],
  ])('a message %s is shown without images whose server never responds', async (_, messageOf) => {
    const images = await startHttpServer(() => {});
    try {
      const [icon, image, badge] = ['icon', 'image', 'badge'].map(
        (name) => `${images.origin}/${name}`,
      );
      const actions = [
        { action: 'see', title: 'See', icon, url: site.origin, navigate: site.origin },
      ];
      const start = Date.now();
      const shown = await deliver(JSON.stringify(messageOf({ icon, image, badge, actions })));
      expect(Date.now() - start).toBeLessThan(5000);
      expect(shown).toMatchObject({ title: 'Images', icon: '', image: '', badge: '' });
      expect(shown!.actions).toMatchObject([{ action: 'see', title: 'See' }]);
    } finally {
      await images.stop();
    }
    expect(await tab.notifications()).toHaveLength(1);
  });

  test.each([0, 7])('the app badge becomes %i', async (appBadge) => {
    const id = `badge-${appBadge}`;
    const message = pushMessage(id, { title: id, appBadge }, beaconServer.eventsUrl(id));
    await deliver(JSON.stringify(message));
    await until('the badge', () => beaconServer.beacons(badgeId(appBadge)).length > 0);
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

  test('outside of the sample, it is shown and that is not reported', async () => {
    const eventsUrl = beaconServer.eventsUrl('outside');
    const outside = pushMessage('outside', { title: 'Outside' }, eventsUrl, 0, false);
    expect(await deliver(JSON.stringify(outside))).toMatchObject({ title: 'Outside' });
    // The worker handles one push after the other: what it reports of the first comes before the second.
    const next = pushMessage('inside', { title: 'Inside' }, beaconServer.eventsUrl('inside'));
    await deliver(JSON.stringify(next));
    await until('the beacon', () => beaconServer.beacons('inside').length > 0);
    expect(beaconServer.beacons('outside')).toEqual([]);
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

  test.each([
    ['an empty push', '', 'localhost'],
    ['text', 'Just words', 'localhost'],
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

    test('without a listener on the page, it is shown', async () => {
      const plain = await openSite(browser, `${site.origin}/`);
      await plain.page.bringToFront();
      expect(await deliver(messageOf('unheard'))).toMatchObject({ title: 'unheard' });
      await until('the beacon', () => beaconServer.beacons('unheard').length > 0);
      await plain.page.close();
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
  const { session, passPush } = await passPushesTo(page);
  let displayed = 0;
  session.on('BackgroundService.backgroundServiceEventReceived', ({ backgroundServiceEvent }) => {
    if (backgroundServiceEvent.eventName === 'Notification displayed') displayed++;
  });
  const service = 'notifications' as const;
  await session.send('BackgroundService.setRecording', { service, shouldRecord: true });
  await session.send('BackgroundService.startObserving', { service });
  await page.evaluate(async () => {
    await navigator.serviceWorker.register('/carillon-sw.js');
    await navigator.serviceWorker.ready;
  });
  async function deliver(data: string): Promise<ShownNotification | undefined> {
    const before = displayed;
    await passPush(data);
    // The page cannot be asked: getNotifications() makes Chromium drop one that is about to be shown.
    await until('a notification displayed', () => displayed > before);
    return (await tab.notifications()).at(-1);
  }
  return { passPush, deliver, stopWorkers: () => session.send('ServiceWorker.stopAllWorkers') };
}
