import { pushMessage } from '../../contract/message.ts';
import { until } from '../fixtures/until.ts';
import { push as pushDirectly } from '../local/push-service/sender.ts';
import { startBeaconServer } from './fixtures/beacon-server.ts';
import { readSubscription, siteWorker } from './fixtures/in-page.ts';
import { describeWithSdk } from './fixtures/sdk-session.ts';
import { startSilentServer } from './fixtures/silent-server.ts';

describeWithSdk('notifications of the SDK in Firefox', (session) => {
  test('a notification is shown with every field and sends a `shown` beacon', async () => {
    const { project, site, tab } = await session.subscribedTab();
    const content = {
      title: 'Every field',
      body: 'A body with ünïcödé 🔔',
      url: `${site.origin}/target`,
      icon: `${site.origin}/icon.png`,
      image: `${site.origin}/image.png`,
      badge: `${site.origin}/badge.png`,
    };
    const { id, ...counts } = await session.stack.send(project, content);
    expect(counts).toEqual({ attempted: 1, delivered: 1, removed: 0, failed: 0 });
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
    const [shown, ...others] = await tab.notifications();
    expect(others).toEqual([]);
    const { title, body, icon } = content;
    expect(shown).toMatchObject({ title, body, icon, data: { id, url: content.url } });
    // Firefox does not support `image`. Members that it supports have the sent value.
    for (const name of ['image', 'badge'] as const) {
      if (shown![name] !== undefined) expect(shown![name]).toBe(content[name]);
    }
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

  test('a click focuses a tab that already shows the URL', async () => {
    const { project, tab } = await session.subscribedTab();
    const url = tab.page.url();
    const before = await session.openUrls();
    const { id } = await session.stack.send(project, { title: 'Come back', url });
    await session.firefox.clickNotification('Come back');
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 1 });
    expect(await session.openUrls()).toEqual(before);
  });

  test('a push is shown and sends its beacon after the tab is closed', async () => {
    const { project, site, tab } = await session.subscribedTab();
    await tab.page.close();
    const { id } = await session.stack.send(project, { title: 'Nobody is here' });
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
    const again = await session.open(`${site.origin}/`);
    expect(await again.notifications()).toMatchObject([{ title: 'Nobody is here' }]);
  });

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

  test.each([
    ['text', 'Just words', { title: 'localhost', body: 'Just words' }],
    ['an empty string', '""', { title: 'localhost' }],
    ['JSON of another sender', '{"title":"Foreign","body":"Words"}', { title: 'Foreign' }],
    ['null', 'null', { title: 'localhost' }],
    ['wrong types', '{"notification":{"title":7,"data":{"carillon":1}}}', { title: 'localhost' }],
  ])('a notification is shown for %s', async (_, payload, expected) => {
    const { project, tab } = await session.subscribedTab();
    const subscription = await tab.page.evaluate(readSubscription);
    const response = await pushDirectly({ toJSON: () => subscription }, payload, project.vapid);
    expect(response.status).toBe(201);
    const shown = await until('a notification', async () => (await tab.notifications())[0]);
    expect(shown).toMatchObject(expected);
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

  test('a beacon without a response delays no notification', async () => {
    const { project, site, tab } = await session.subscribedTab();
    const subscription = await tab.page.evaluate(readSubscription);
    const silent = await startSilentServer();
    session.closeLater(silent.stop);
    const events = `${silent.origin}/events`;
    for (const id of ['one', 'two']) {
      const data = { carillon: 1, id, events };
      const message = JSON.stringify({ notification: { title: id, navigate: site.origin, data } });
      await pushDirectly({ toJSON: () => subscription }, message, project.vapid);
    }
    await until('both notifications', async () => (await tab.notifications()).length === 2);
    await until('the request of a beacon', () => silent.connections > 0);
  });
});
