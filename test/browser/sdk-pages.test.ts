import type { CarillonClient, CarillonEvents, PushState } from '../../sdk/client/carillon.ts';
import { CarillonServer } from '../../sdk/server/carillon-server.ts';
import { until } from '../fixtures/until.ts';
import { describeWithSdk } from './fixtures/sdk-session.ts';

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
    expect((await received(2))[1]).toEqual([
      'clicked',
      { id, data: { order: 7 }, url: content.url, action: '' },
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
});
