import type { CloseOptions } from '../../sdk/client/carillon.ts';
import { until } from '../fixtures/until.ts';
import { closeNotifications, listenToMessages, receivedMessages } from './fixtures/in-page.ts';
import { describeWithSdk } from './fixtures/sdk-session.ts';
import type { SitePage } from './fixtures/site-page.ts';
import type { TestProject } from './fixtures/stack.ts';

describeWithSdk('messages while the visitor looks at the site, in Firefox', (session) => {
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

  test('without `whenFocused` it is shown, and the page gets no message', async () => {
    const { project, tab } = await session.subscribedTab();
    await tab.page.evaluate(listenToMessages);
    await showAnother(project);
    expect(await tab.notifications()).toMatchObject([{ title: 'Another' }]);
    expect(await tab.page.evaluate(receivedMessages)).toEqual([]);
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

  test('without a window of the site, it is shown', async () => {
    const { project, site, tab } = await session.subscribedTab();
    await tab.page.close();
    const { id } = await session.stack.send(project, forPage);
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
    const again = await session.open(`${site.origin}/`);
    expect(await again.notifications()).toMatchObject([{ title: 'For the page' }]);
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

  test('a listener that is removed gets nothing more', async () => {
    const { project, tab } = await session.subscribedTab();
    await tab.page.evaluate(listenToMessages);
    await session.stack.send(project, forPage);
    await firstMessages(tab);
    await tab.page.evaluate(() => Object(self).removeListener());
    await session.stack.send(project, forPage);
    await showAnother(project);
    expect(await tab.page.evaluate(receivedMessages)).toHaveLength(1);
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
      // Of the site itself, and of another project.
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
