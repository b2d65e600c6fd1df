import { randomUUID } from 'node:crypto';
import { pathOf } from '../../contract/text/addresses.ts';
import { routes } from '../../contract/wire/routes.ts';
import type { CarillonClient } from '../../sdk/client/carillon.ts';
import { until } from '../fixtures/until.ts';
import { ageEntry, endSubscription, registrationSettled } from './fixtures/in-page.ts';
import { describeWithSdk, type SdkSession } from './fixtures/sdk-session.ts';
import type { SitePage } from './fixtures/site-page.ts';
import { storedText } from './fixtures/stored-text.ts';

/** Declared by the page's script. */
declare const push: CarillonClient;

type Meeting = readonly [what: string, meet: (tab: SitePage, session: SdkSession) => Promise<void>];

/** How an erased browser meets the service again. No visitor asks for it. */
const meetings: readonly Meeting[] = [
  ['is seen again after two days', visit],
  [
    'is seen again with another endpoint',
    async (tab) => {
      await tab.page.evaluate(endSubscription);
      await visit(tab);
    },
  ],
  [
    'gets another endpoint, and no page is open',
    async (tab, session) => {
      await tab.page.goto('about:blank');
      session.stack.pushService.realBrowsers.forget();
    },
  ],
  ['is logged out', async (tab) => expect(tab.identify(null)).rejects.toThrow('erased')],
  [
    'is subscribed by the page',
    async ({ page }) =>
      expect(page.evaluate(() => push.subscribe({ renewal: true }))).rejects.toThrow('erased'),
  ],
];

async function visit({ page }: SitePage): Promise<void> {
  const url = page.url();
  await page.evaluate(ageEntry, url, 'registeredAt');
  await page.reload();
  await page.evaluate(registrationSettled);
}

describeWithSdk('a person who was erased, in Firefox', (session) => {
  test.each(meetings)('when her browser %s, it forgets her, until she clicks', async (_, meet) => {
    const ada = `ada-${randomUUID()}`;
    const { project, site, tab, endpoint } = await session.subscribedTab(ada);
    const url = `${site.origin}/`;
    const { id } = await session.stack.send(project, { title: 'Hello' });
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
    for (const text of [ada, endpoint, id]) expect(await storedText(tab.page)).toContain(text);
    const path = pathOf(routes.removeUser, { projectId: project.projectId });
    const headers = { authorization: `Bearer ${project.secretKey}` };
    const erasing = `${session.stack.baseUrl}${path}?userId=${ada}`;
    expect(await (await fetch(erasing, { method: 'DELETE', headers })).json()).toEqual({
      removed: 1,
    });
    session.stack.lines.length = 0;

    await meet(tab, session);
    // Has no SDK, so that it changes nothing.
    site.files.set('/look', '<h1>Look</h1>');
    const look = await session.open(`${site.origin}/look`);
    await until('the browser forgets', async () => !(await storedText(look.page)).includes(ada));
    const everywhere = (await storedText(look.page)) + (await session.stack.everything());
    for (const text of [ada, endpoint, new URL(endpoint).pathname]) {
      expect(everywhere).not.toContain(text);
    }
    expect(await storedText(look.page)).not.toContain(project.projectId);
    expect(
      await look.page.evaluate(async () => {
        const registration = await navigator.serviceWorker.getRegistration('/');
        return registration!.pushManager.getSubscription();
      }),
    ).toBeNull();

    const later = await session.open(url);
    await later.page.evaluate(registrationSettled);
    expect(await later.page.evaluate(() => push.subscribe({ renewal: true }))).toBeUndefined();
    expect(await session.stack.subscriptions(project)).toEqual([]);
    await later.subscribe(ada);
    expect(await session.stack.subscriptions(project)).toMatchObject([{ userId: ada }]);
  });
});
