import type { IdentityProject } from '../../../contract/project.ts';
import type { SubscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { subscribe } from '../../../lambdas/subscribe/subscribe.ts';
import { signUserId } from '../../../sdk/server/carillon-server.ts';
import { knownProject } from '../../fixtures/known-project.ts';
import { subscription } from '../../fixtures/subscription.ts';

const now = new Date('2026-11-20T12:00:00Z');
const keyOf = (letter: string) => `carillon_id_${letter.repeat(43)}`;

const project: IdentityProject = {
  ...knownProject,
  vapid: {
    current: { number: 3, publicKey: 'current' },
    previous: { number: 2, publicKey: 'previous' },
  },
  userIds: 'open',
  identityKey: keyOf('a'),
};
const rotated: IdentityProject = {
  ...project,
  plan: { subscriberCap: 7 },
  vapid: {
    current: { number: 4, publicKey: 'next' },
    previous: { number: 3, publicKey: 'current' },
  },
  identityKey: keyOf('b'),
};

interface Call {
  readonly fields?: object;
  /** As the function remembers it. */
  readonly remembered?: Partial<IdentityProject>;
  /** As it is stored. Null: it was deleted. */
  readonly stored?: IdentityProject | null;
  readonly outcome?: Awaited<ReturnType<SubscriptionStore['save']>>;
}

/** Subscribes with these fields. @returns what was saved, how often the project was read, and why it was refused. */
async function call({ fields = {}, remembered, stored = project, outcome = 'created' }: Call) {
  const { signal } = new AbortController();
  const saved: unknown[] = [];
  let reads = 0;
  const deps = {
    subscriptions: {
      async save(
        ...[id, { endpoint, keys, ...others }, cap, given]: Parameters<SubscriptionStore['save']>
      ) {
        expect(given).toBe(signal);
        expect({ endpoint, keys }).toEqual(target);
        saved.push({ id, ...others, cap });
        return outcome;
      },
    },
    projects: {
      async refresh(projectId: string, given?: AbortSignal) {
        expect([projectId, given]).toEqual(['shop', signal]);
        reads += 1;
        return stored ?? undefined;
      },
    },
    clock: () => now,
  };
  const { endpoint, keys } = subscription();
  const target = { endpoint, keys };
  const refusal = await subscribe(
    deps,
    { ...project, ...remembered },
    { ...target, ...fields },
    1000,
    signal,
  ).then(
    () => undefined,
    ({ code }) => code,
  );
  return { saved, reads, refusal };
}

const signed = (userId: string, letter = 'a') => ({
  userId,
  userIdSignature: signUserId(keyOf(letter), userId),
});

describe('the stored subscription', () => {
  test('has the user id and the channels, without the signature and the key of the request', async () => {
    const fields = { ...signed('ada'), channels: ['news'], applicationServerKey: 'current' };
    expect((await call({ fields })).saved).toEqual([
      {
        ...{ id: 'shop-1', userId: 'ada', channels: ['news'], cap: 1000 },
        ...{ vapidPairNumber: 3, assumedPairNumber: 3 },
      },
    ]);
  });

  test.each([
    [undefined, undefined],
    ['current', 3],
    ['previous', 2],
  ])('with the key %p, is of the pair %p, and the project is not read', async (key, number) => {
    const { saved, reads } = await call({ fields: { applicationServerKey: key } });
    expect(saved).toMatchObject([{ vapidPairNumber: number, assumedPairNumber: 3 }]);
    expect(reads).toBe(0);
  });

  test('is of a pair that is newer than the project in memory', async () => {
    const fields = { applicationServerKey: 'next' };
    const { saved, reads } = await call({ fields, stored: rotated });
    expect(saved).toMatchObject([{ vapidPairNumber: 4 }]);
    expect(reads).toBe(1);
  });

  test.each<[object, number | null]>([
    [{}, 1000],
    [{ subscriberCap: 5 }, 5],
    [{ subscriberCap: null }, null],
  ])('counts below the cap of the plan %j: %p', async (plan, cap) => {
    expect((await call({ remembered: { plan } })).saved).toMatchObject([{ cap }]);
  });
});

describe('a refusal', () => {
  const unknownKey = { applicationServerKey: 'other' };

  test.each<[string, Call, string]>([
    [
      'a key, of a project that was deleted',
      { fields: unknownKey, stored: null },
      'project_not_found',
    ],
    [
      'a wrong signature before an unknown key',
      { fields: { ...signed('ada', 'b'), ...unknownKey } },
      'user_id_signature_invalid',
    ],
  ])('of %s stores nothing', async (_, request, refusal) => {
    expect(await call(request)).toEqual({ saved: [], reads: 1, refusal });
  });

  test.each([
    ['cap_reached', 'subscriber_cap_reached'],
    ['project_gone', 'project_not_found'],
    ['updated', undefined],
  ] as const)('for the outcome %s is %p', async (outcome, refusal) => {
    expect(await call({ outcome })).toMatchObject({ refusal, reads: 0 });
  });
});

describe('a user id', () => {
  test.each<[string, Call, number]>([
    ['without a signature, where none is required', { fields: { userId: 'ada' } }, 0],
    ['signed', { fields: signed('ada'), remembered: { userIds: 'signed' } }, 0],
    [
      'signed with a key that is newer than the project in memory',
      { fields: signed('ada', 'b'), stored: rotated },
      1,
    ],
    [
      'signed with the previous key in its grace period',
      {
        fields: signed('ada', 'c'),
        remembered: {
          previousIdentityKey: { key: keyOf('c'), until: new Date(now.getTime() + 1) },
        },
      },
      0,
    ],
  ])('is accepted %s', async (_, request, reads) => {
    const { saved, ...others } = await call(request);
    expect(saved).toMatchObject([{ userId: 'ada' }]);
    expect(others).toEqual({ reads, refusal: undefined });
  });

  test('that was signed with a newer key is stored by the newer project: its cap, its pair', async () => {
    const { saved } = await call({ fields: signed('ada', 'b'), stored: rotated });
    expect(saved).toMatchObject([{ cap: 7, assumedPairNumber: 4 }]);
  });

  test('is refused with the previous key at the end of its grace period', async () => {
    const previousIdentityKey = { key: keyOf('c'), until: now };
    const { refusal } = await call({
      fields: signed('ada', 'c'),
      remembered: { previousIdentityKey },
      stored: { ...project, previousIdentityKey },
    });
    expect(refusal).toBe('user_id_signature_invalid');
  });
});
