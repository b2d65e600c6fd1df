import { until } from '../fixtures/until.ts';
import { describeWithSdk } from './fixtures/sdk-session.ts';

describeWithSdk('the options of a send in Firefox', (session) => {
  const buttons = [
    { action: 'watch', title: 'Watch' },
    { action: 'mute', title: 'Mute' },
  ];

  test('a notification has the options that Firefox supports, and the data of its sender', async () => {
    const { project, tab } = await session.subscribedTab();
    const options = {
      ...{ tag: 'match', renotify: true, requireInteraction: true, silent: true },
      ...{ lang: 'pt-BR', dir: 'rtl', actions: buttons },
    };
    const { id } = await session.stack.send(project, {
      ...{ title: 'Goal', timestamp: '2026-11-21T19:00:00Z', data: { match: 7 }, appBadge: 3 },
      ...options,
    });
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
    const [shown, ...others] = await tab.notifications();
    expect(others).toEqual([]);
    expect(shown).toMatchObject({ title: 'Goal', data: { data: { match: 7 } } });
    const { tag, lang, dir, silent, actions, requireInteraction } = options;
    expect(shown).toMatchObject({ tag, lang, dir, silent, actions });
    // Firefox supports it on Windows only.
    expect([undefined, false, requireInteraction]).toContain(shown!.requireInteraction);
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

  test('a button without a URL opens that of the notification', async () => {
    const { project, site } = await session.subscribedTab();
    site.files.set('/match', '<!doctype html><title>Match</title>');
    const url = `${site.origin}/match`;
    const actions = [{ ...buttons[0], url: `${site.origin}/watch` }, buttons[1]];
    const { id } = await session.stack.send(project, { title: 'Press mute', url, actions });
    await session.firefox.pressButton('Press mute', 'mute');
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 1 });
    await until('the URL in a tab', async () => (await session.openUrls()).includes(url));
  });

  test('a notification replaces the one with the same tag, and both are counted', async () => {
    const { project, tab } = await session.subscribedTab();
    const { id } = await session.stack.send(project, { title: '1:0', tag: 'match' });
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
    const { id: later } = await session.stack.send(project, { title: '2:0', tag: 'match' });
    await session.stack.expectBeacons(project, later, { shown: 1, clicked: 0 });
    expect((await tab.notifications()).map(({ title }) => title)).toEqual(['2:0']);
    expect(await session.stack.events(project, id)).toMatchObject({ shown: 1 });
  });

  test('with `worker: false`, the service worker still handles the message', async () => {
    const { project, site, tab } = await session.subscribedTab();
    const url = `${site.origin}/`;
    const { id } = await session.stack.send(project, { title: 'No worker', url, worker: false });
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
    expect(await tab.notifications()).toMatchObject([{ title: 'No worker', tag: id }]);
  });
});
