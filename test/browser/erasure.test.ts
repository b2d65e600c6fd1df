import { pathOf } from '../../contract/text/addresses.ts';
import { routes } from '../../contract/wire/routes.ts';
import { ageEntry, endSubscription, registrationSettled } from './fixtures/in-page.ts';
import { describeWithSdk } from './fixtures/sdk-session.ts';

describeWithSdk('a person who was erased, in Firefox', (session) => {
  test('does not come back with a visit, nor with another endpoint, but with a click', async () => {
    const { project, site } = await session.subscribedTab('ada');
    const path = pathOf(routes.removeUser, { projectId: project.projectId });
    const headers = { authorization: `Bearer ${project.secretKey}` };
    const erasing = await fetch(`${session.stack.baseUrl}${path}?userId=ada`, {
      method: 'DELETE',
      headers,
    });
    expect(await erasing.json()).toEqual({ removed: 1 });

    const first = await session.open(`${site.origin}/`);
    await first.page.evaluate(ageEntry, `${site.origin}/`, 'registeredAt');
    const visit = await session.open(`${site.origin}/`);
    await visit.page.evaluate(registrationSettled);
    expect(await session.stack.subscriptions(project)).toEqual([]);

    await visit.page.evaluate(ageEntry, `failures ${site.origin}/`, 'notBefore');
    await visit.page.evaluate(endSubscription);
    const renewed = await session.open(`${site.origin}/`);
    await renewed.page.evaluate(registrationSettled);
    expect(await session.stack.subscriptions(project)).toEqual([]);

    await renewed.subscribe('ada');
    expect(await session.stack.subscriptions(project)).toMatchObject([{ userId: 'ada' }]);
  });
});
