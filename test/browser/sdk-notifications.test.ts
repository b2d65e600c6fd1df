import type { ServerResponse } from 'node:http';
import { pushMessage } from '../../contract/wire/message.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { until } from '../fixtures/until.ts';
import { push as pushDirectly } from '../local/push-service/sender.ts';
import { startBeaconServer } from './fixtures/beacon-server.ts';
import { readSubscription, siteWorker } from './fixtures/in-page.ts';
import { describeWithSdk } from './fixtures/sdk-session.ts';

describeWithSdk('notifications of the SDK in Firefox', (session) => {
  const buttons = [
    { action: 'watch', title: 'Watch' },
    { action: 'mute', title: 'Mute' },
  ];

  test('a notification is shown with every field that Firefox supports, and sends a `shown` beacon', async () => {
    const { project, site, tab } = await session.subscribedTab();
    const shown = {
      ...{ title: 'Every field', body: 'A body with ünïcödé 🔔', icon: `${site.origin}/icon.png` },
      ...{ tag: 'match', silent: true, lang: 'pt-BR', dir: 'rtl', actions: buttons },
    };
    const optional = { image: `${site.origin}/image.png`, badge: `${site.origin}/badge.png` };
    const url = `${site.origin}/target`;
    const { id, ...counts } = await session.stack.send(project, {
      ...{ ...shown, ...optional, url, renotify: true, requireInteraction: true },
      ...{ timestamp: '2026-11-21T19:00:00Z', data: { match: 7 }, appBadge: 3 },
    });
    expect(counts).toEqual({ attempted: 1, delivered: 1, removed: 0, failed: 0 });
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
    const [notification, ...others] = await tab.notifications();
    expect(others).toEqual([]);
    expect(notification).toMatchObject({ ...shown, data: { id, url, data: { match: 7 } } });
    // Firefox does not support `image`. Members that it supports have the sent value.
    for (const name of ['image', 'badge'] as const) {
      expect([undefined, optional[name]]).toContain(notification![name]);
    }
    // Firefox supports it on Windows only.
    expect([undefined, false, true]).toContain(notification!.requireInteraction);
  });

  test('a click opens the URL, closes the notification and sends a `clicked` beacon', async () => {
    const { project, site, tab } = await session.subscribedTab();
    site.files.set('/target', '<!doctype html><title>Target</title>');
    const url = `${site.origin}/target`;
    const { id } = await session.stack.send(project, { title: 'Click me', url });
    await session.firefox.clickNotification('Click me');
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 1 });
    await until('the URL in a tab', async () => (await session.openUrls()).includes(url));
    expect(await tab.notifications()).toEqual([]);
  });

  test('a button opens its URL, closes the notification and counts as clicked', async () => {
    const { project, site, tab } = await session.subscribedTab();
    site.files.set('/watch', '<!doctype html><title>Live</title>');
    const url = `${site.origin}/watch`;
    const { id } = await session.stack.send(project, {
      title: 'Press watch',
      url: `${site.origin}/other`,
      actions: [{ ...buttons[0], url }, buttons[1]],
    });
    await session.firefox.pressButton('Press watch', 'watch');
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 1 });
    await until('the URL in a tab', async () => (await session.openUrls()).includes(url));
    expect(await session.openUrls()).not.toContain(`${site.origin}/other`);
    expect(await tab.notifications()).toEqual([]);
  });

  test('with `worker: false`, the service worker still handles the message', async () => {
    const { project, site, tab } = await session.subscribedTab();
    const url = `${site.origin}/`;
    const { id } = await session.stack.send(project, { title: 'No worker', url, worker: false });
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
    expect(await tab.notifications()).toMatchObject([{ title: 'No worker', tag: id }]);
  });

  /** How the server of an image does not respond. */
  const silences = {
    'never responds': () => {},
    'never ends its response': (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      response.write('PNG');
    },
  };

  test.each(Object.entries(silences))(
    'if the server of the icon %s, the notification is shown soon, once',
    async (_, respond) => {
      const { project, tab } = await session.subscribedTab();
      const responses: ServerResponse[] = [];
      const images = await startHttpServer((_, response) => {
        responses.push(response);
        respond(response);
      });
      session.closeLater(images.stop);
      const start = Date.now();
      const content = { title: 'Icon', icon: `${images.origin}/icon.png`, tag: 'icon' };
      const { id } = await session.stack.send(project, content);
      const shown = await until('the notification', async () => {
        const all = await tab.notifications();
        return all.length > 0 && all;
      });
      expect(Date.now() - start).toBeLessThan(5000);
      expect(shown).toMatchObject([{ title: 'Icon', tag: 'icon' }]);
      // Firefox draws a part of an image.
      expect(['', content.icon]).toContain(shown[0]!.icon);
      await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
      for (const response of responses) response.destroy();
      const { id: next } = await session.stack.send(project, { title: 'Next' });
      await session.stack.expectBeacons(project, next, { shown: 1, clicked: 0 });
      const titles = (await tab.notifications()).map(({ title }) => title);
      expect(titles.sort()).toEqual(['Icon', 'Next']);
    },
  );

  test('a message delivered twice is shown once and sends one beacon', async () => {
    const { project, tab } = await session.subscribedTab();
    const { id } = await session.stack.send(project, { title: 'Once' });
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
    const subscription = await tab.page.evaluate(readSubscription);
    const events = `${session.stack.baseUrl}/api/v1/projects/${project.projectId}/notifications/${id}/events`;
    const data = { carillon: 1, id, events };
    const again = JSON.stringify({ web_push: 8030, notification: { title: 'Twice', data } });
    await pushDirectly({ toJSON: () => subscription }, again, project.vapid);
    await until('the second delivery to replace the first', async () => {
      const shown = await tab.notifications();
      return shown.length === 1 && shown[0]!.title === 'Twice';
    });
    const { id: later } = await session.stack.send(project, { title: 'Later' });
    await session.stack.expectBeacons(project, later, { shown: 1, clicked: 0 });
    expect(await session.stack.events(project, id)).toMatchObject({ shown: 1, clicked: 0 });
  });

  test('imported into a site’s worker, it leaves other senders’ pushes to that worker', async () => {
    const { project, site } = await session.newSite();
    site.files.set('/sw.js', siteWorker);
    site.files.set('/', site.files.get('/')!.replace('});', "  serviceWorker: '/sw.js',\n  });"));
    const tab = await session.open(`${site.origin}/`);
    await tab.subscribe();
    const subscription = await tab.page.evaluate(readSubscription);
    await pushDirectly({ toJSON: () => subscription }, '{"foreign":"Hello"}', project.vapid);
    await until('the foreign notification', async () => {
      return (await tab.notifications()).some(({ title }) => title === 'Foreign: Hello');
    });
    const { id } = await session.stack.send(project, { title: 'Ours' });
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
    const titles = (await tab.notifications()).map(({ title }) => title);
    expect(titles.sort()).toEqual(['Foreign: Hello', 'Ours']);
    await session.firefox.clickNotification('Foreign: Hello');
    await until('the foreign click', async () => {
      return (await session.openUrls()).includes(`${site.origin}/?foreign-click`);
    });
    expect(await session.stack.events(project, id)).toMatchObject({ shown: 1, clicked: 0 });
  });

  test.each([
    ['a copy of it', (worker: string) => worker],
    ['a line that imports it', () => "importScripts('/carillon-sw.js?takeover');"],
  ])('in place of another service’s worker, %s takes over at once', async (_, newWorker) => {
    const { project, site } = await session.newSite();
    const file = '/OneSignalSDKWorker.js';
    site.files.set(
      file,
      "onpush = (event) => event.waitUntil(registration.showNotification('The old worker'));",
    );
    site.files.set('/', site.files.get('/')!.replace('});', `  serviceWorker: '${file}',\n  });`));
    const tab = await session.open(`${site.origin}/`);
    await tab.page.evaluate(
      async (url, applicationServerKey) => {
        await navigator.serviceWorker.register(url);
        const { pushManager } = await navigator.serviceWorker.ready;
        await pushManager.subscribe({ applicationServerKey });
      },
      file,
      project.applicationServerKey,
    );
    const subscription = await tab.page.evaluate(readSubscription);
    // A page that the old worker controls stays open.
    await tab.page.reload();
    site.files.set(file, newWorker(site.files.get('/carillon-sw.js')!));
    await tab.page.evaluate(async () => {
      const registration = await navigator.serviceWorker.getRegistration();
      await registration!.update();
      while (registration!.installing || registration!.waiting) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
    expect(await tab.subscribe()).toBe(subscription.endpoint);
    const url = `${site.origin}/sale`;
    const message = JSON.stringify({ title: 'The old sender', alert: 'B', custom: { u: url } });
    await pushDirectly({ toJSON: () => subscription }, message, project.vapid);
    const { id } = await session.stack.send(project, { title: 'Ours' });
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
    await until('both notifications', async () => (await tab.notifications()).length === 2);
    const titles = (await tab.notifications()).map(({ title }) => title);
    expect(titles.sort()).toEqual(['Ours', 'The old sender']);
    await session.firefox.clickNotification('The old sender');
    await until('the URL in a tab', async () => (await session.openUrls()).includes(url));
  });

  test('each event is one request, without a preflight, to the URL as it is', async () => {
    const { project, site, tab } = await session.subscribedTab();
    const subscription = await tab.page.evaluate(readSubscription);
    const beaconServer = await startBeaconServer();
    session.closeLater(beaconServer.stop);
    const message = pushMessage(
      'id',
      { title: 'Requests', url: site.origin },
      beaconServer.eventsUrl('id'),
    );
    await pushDirectly({ toJSON: () => subscription }, JSON.stringify(message), project.vapid);
    await session.firefox.clickNotification('Requests');
    await until('both beacons', () => beaconServer.beacons('id').length === 2);
    const request = 'POST /id/events?tally=3 text/plain;charset=UTF-8';
    expect(beaconServer.requests).toEqual([request, request]);
    expect([...beaconServer.beacons('id')].sort()).toEqual(['clicked', 'shown']);
  });

  test('outside of the sample, it is shown and only a click is reported', async () => {
    const { project, site, tab } = await session.subscribedTab();
    const subscription = await tab.page.evaluate(readSubscription);
    const beaconServer = await startBeaconServer();
    session.closeLater(beaconServer.stop);
    const content = { title: 'Outside', url: site.origin };
    const message = pushMessage('id', content, beaconServer.eventsUrl('id'), 0, false);
    await pushDirectly({ toJSON: () => subscription }, JSON.stringify(message), project.vapid);
    await session.firefox.clickNotification('Outside');
    await until('the click', () => beaconServer.beacons('id').length > 0);
    expect(beaconServer.beacons('id')).toEqual(['clicked']);
  });

  test('a beacon without a response delays no notification', async () => {
    const { project, site, tab } = await session.subscribedTab();
    const subscription = await tab.page.evaluate(readSubscription);
    let requests = 0;
    const silent = await startHttpServer(() => {
      requests++;
    });
    session.closeLater(silent.stop);
    const events = `${silent.origin}/events`;
    for (const id of ['one', 'two']) {
      const data = { carillon: 1, id, events };
      const message = JSON.stringify({ notification: { title: id, navigate: site.origin, data } });
      await pushDirectly({ toJSON: () => subscription }, message, project.vapid);
    }
    await until('both notifications', async () => (await tab.notifications()).length === 2);
    await until('the request of a beacon', () => requests > 0);
  });
});
