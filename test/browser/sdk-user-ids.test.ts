import { randomBytes } from 'node:crypto';
import { projectCacheMs } from '../../lambdas/store/projects.ts';
import type { CarillonClient } from '../../sdk/client/carillon.ts';
import { signUserId } from '../../sdk/server/carillon-server.ts';
import { until } from '../fixtures/until.ts';
import { ageEntry, endSubscription, readEntry, registrationSettled } from './fixtures/in-page.ts';
import { describeWithSdk } from './fixtures/sdk-session.ts';
import type { TestProject } from './fixtures/stack.ts';

/** Declared by the page's script. */
declare const push: CarillonClient;

describeWithSdk('signed user ids in Firefox', (session) => {
  /** A site of a project that requires signatures. */
  async function newSite() {
    const { project, site } = await session.newSite();
    await session.stack.registry.set(project.projectId, { userIds: 'signed' });
    return { project, site, url: `${site.origin}/` };
  }

  /** A tab in which Ada has subscribed with her signature. */
  async function subscribedTab() {
    const { project, site, url } = await newSite();
    const signature = signUserId(project.identityKey, 'ada');
    const tab = await session.open(url);
    const endpoint = await tab.subscribe('ada', signature);
    expect(await session.stack.subscriptions(project)).toEqual([{ endpoint, userId: 'ada' }]);
    return { project, site, url, tab, endpoint, signature };
  }

  /** Replaces the identity key, and lets the functions forget the previous one. @returns the new signature of Ada. */
  async function rotate({ projectId }: TestProject): Promise<string> {
    const { identityKey } = await session.stack.registry.rotateIdentityKey(
      projectId,
      randomBytes,
      0,
    );
    await until('functions that can be frozen', async () => {
      try {
        return session.stack.freeze(projectCacheMs, 'reset');
      } catch {
        // A function still runs.
        return undefined;
      }
    });
    return signUserId(identityKey, 'ada');
  }

  test('the worker renews a subscription with the stored signature', async () => {
    const { project, tab, endpoint } = await subscribedTab();
    await tab.page.close();
    session.stack.pushService.realBrowsers.forget();
    expect(await session.stack.onlyOtherThan(endpoint, project)).toMatchObject({ userId: 'ada' });
  });

  test.each([
    ['wrong', { userId: 'ada', userIdSignature: 'forged' }, 'user_id_signature_invalid'],
    ['missing', { userId: 'ada' }, 'user_id_signature_required'],
  ])(
    'subscribe() rejects if the signature is %s, and leaves no subscription',
    async (_, user, code) => {
      const { project, url } = await newSite();
      const tab = await session.open(url);
      expect(await tab.subscribeError(user)).toBe(code);
      expect(await tab.endpoint()).toBeUndefined();
      expect(await session.stack.subscriptions(project)).toEqual([]);
    },
  );

  test('identify() rejects if the signature is wrong, and keeps the user id', async () => {
    const { project, tab } = await subscribedTab();
    await expect(tab.identify('bob', 'forged')).rejects.toThrow('userIdSignature');
    expect(await session.stack.subscriptions(project)).toMatchObject([{ userId: 'ada' }]);
    await expect(tab.identify(42 as never)).rejects.toThrow('use String(user.id)');
    expect((await tab.page.evaluate(() => push.state())).userId).toBe('ada');
  });

  test('a signature that is refused in the background: the worker renews without the user id', async () => {
    const { project, url, tab, endpoint } = await subscribedTab();
    await tab.page.close();
    const signature = await rotate(project);
    session.stack.pushService.realBrowsers.forget();
    const renewed = await session.stack.onlyOtherThan(endpoint, project);
    expect(renewed.userId).toBeUndefined();
    const view = await session.open(url);
    await view.identify('ada', signature);
    expect(await session.stack.subscriptions(project)).toEqual([{ ...renewed, userId: 'ada' }]);
    expect(await view.page.evaluate(readEntry, url)).toMatchObject({
      choice: { userIdSignature: signature },
    });
  });

  test('a signature that is refused in the background: a page view subscribes again without the user id', async () => {
    const { project, url, tab, endpoint } = await subscribedTab();
    await rotate(project);
    await tab.page.evaluate(endSubscription);
    const view = await session.open(url);
    await view.page.evaluate(registrationSettled);
    const renewed = await session.stack.onlyOtherThan(endpoint, project);
    expect(renewed).toEqual({ endpoint: await view.endpoint(), userId: undefined });
  });

  test('a signature that is refused in the background: a confirmation keeps the stored user id', async () => {
    const { project, url, tab, endpoint } = await subscribedTab();
    await rotate(project);
    await tab.page.evaluate(ageEntry, url, 'registeredAt');
    const view = await session.open(url);
    await view.page.evaluate(registrationSettled);
    expect(await view.page.evaluate(readEntry, `failures ${url}`)).toMatchObject({ count: 1 });
    expect(await session.stack.subscriptions(project)).toEqual([{ endpoint, userId: 'ada' }]);
  });

  test('init() registers the user of the page, and a new signature, in the background', async () => {
    const { project, site, url, tab, endpoint } = await subscribedTab();
    const page = site.files.get('/')!;
    const options = async (user: object) => {
      site.files.set('/', page.replace('init({', `init({ ...${JSON.stringify(user)},`));
      const view = await session.open(url);
      await view.page.evaluate(registrationSettled);
      return (await view.page.evaluate(readEntry, url)).choice;
    };
    const userIdSignature = await rotate(project);
    const resigned = { userId: 'ada', userIdSignature };
    expect(await options(resigned)).toMatchObject(resigned);
    expect(await options({ userId: null })).toMatchObject({ userIdSignature: undefined });
    expect(await session.stack.subscriptions(project)).toEqual([{ endpoint, userId: undefined }]);
    expect(await tab.endpoint()).toBe(endpoint);
  });
});
