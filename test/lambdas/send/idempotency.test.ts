import { noCounts } from '../../../contract/counts.ts';
import type { ParsedSendRequest } from '../../../contract/schemas/notification.ts';
import type { Share } from '../../../contract/share.ts';
import type { ShareInvoker } from '../../../lambdas/send/run-shares.ts';
import type { SendOutcome } from '../../../lambdas/send/sending.ts';
import type { NewNotification } from '../../../lambdas/store/send-writes.ts';
import type { ShareKey } from '../../../lambdas/store/tallies.ts';
import { now, recordedDependencies, sendWith } from './recorded-dependencies.ts';

const keyed = { idempotencyKey: 'order-1' };

type Setup = ReturnType<typeof recordedDependencies>;

const key = (notificationId: string, firstTally = 0): ShareKey => ({
  projectId: 'shop',
  notificationId,
  firstTally,
  expiresAt: 1_900_000_000,
});

/** What was done besides reading the audience. */
function writes({ calls }: Setup): readonly string[] {
  return calls.filter((call) => !/^(users|everyone) /.test(call));
}

/** Another invocation claims a share, for this many ms. Three pushes are pending. */
async function claim({ deps }: Setup, id: string, forMs: number, firstTally = 0) {
  const until = now.getTime() + forMs;
  const progress = { until, position: 1, pending: 3, counts: noCounts, ended: undefined };
  await deps.tallies.save(key(id, firstTally), { by: 'first', step: 1 }, progress);
}

describe('a repeated request', () => {
  const first: ParsedSendRequest = { title: 'T', userIds: ['u'] };

  async function afterFirst(respondAsync = false, agoMs = 10_000, request = first): Promise<Setup> {
    const sentAt = new Date(now.getTime() - agoMs);
    const setup = recordedDependencies();
    let begun: NewNotification | undefined;
    const begin = async (notification: NewNotification) => {
      begun = notification;
      throw new Error('no response');
    };
    const sends = { ...setup.deps.sends, begin };
    const failing = {
      ...setup,
      deps: { ...setup.deps, sends, newId: () => 'first' },
    };
    await sendWith(failing, { ...keyed, request, respondAsync }).catch(() => {});
    setup.calls.length = 0;
    const { requestHash } = begun!.idempotency!;
    const repeated = {
      ...setup.deps.sends,
      begin: async () => 'repeated' as const,
      earlier: async () => ({ requestHash, notification: { ...begun!, sentAt } }),
    };
    return { ...setup, deps: { ...setup.deps, sends: repeated } };
  }

  function repeat(setup: Setup, request: ParsedSendRequest = first, respondAsync = false) {
    return sendWith(setup, { ...keyed, request, respondAsync }).catch((error: unknown) => error);
  }

  async function end(
    { deps }: Setup,
    ended: 'complete' | 'incomplete' | 'cancelled',
    counts = { ...noCounts, attempted: 1, delivered: 1 },
  ) {
    const [tally] = await deps.tallies.find('first', [0]);
    const { by, until } = tally!.claim!;
    const writer = { by, step: 2, previous: { by, step: 1 } };
    const reached = Uint8Array.of(counts.delivered);
    const progress = { until, position: 1, pending: 0, counts, reached, ended };
    await deps.tallies.save(key('first'), writer, progress);
  }

  const result = { id: 'first', attempted: 1, delivered: 1, removed: 0, failed: 0 };

  test('gets the response of the first', async () => {
    const setup = await afterFirst();
    await claim(setup, 'first', 17_000);
    await end(setup, 'complete');
    setup.calls.length = 0;
    expect(await repeat(setup)).toEqual({ kind: 'sent', result });
    expect(writes(setup)).toEqual([]);
  });

  test('gets the response of a first request that did not reach everyone', async () => {
    const setup = await afterFirst();
    await claim(setup, 'first', 17_000);
    await end(setup, 'incomplete');
    expect(await repeat(setup)).toEqual({ kind: 'sent', result: { ...result, unreached: 1 } });
  });

  test('names the users whom the first request did not reach, in their order', async () => {
    const several = { title: 'T', userIds: ['v', 'u', 'w'] };
    const setup = await afterFirst(false, 10_000, several);
    await claim(setup, 'first', 17_000);
    await end(setup, 'complete');
    const usersNotReached = ['u', 'w'];
    expect(await repeat(setup, several)).toMatchObject({ result: { usersNotReached } });
  });

  test('with a different body is refused, before and after the first has ended', async () => {
    const setup = await afterFirst();
    for (const different of [{ title: 'U' }, { ...first, channels: ['news'] }]) {
      expect(await repeat(setup, different)).toMatchObject({ code: 'idempotency_key_reused' });
    }
    await claim(setup, 'first', 17_000);
    await end(setup, 'complete');
    setup.calls.length = 0;
    expect(await repeat(setup, { title: 'U' })).toMatchObject({ code: 'idempotency_key_reused' });
    expect(writes(setup)).toEqual([]);
  });

  test('with another value of a recipient is refused', async () => {
    const toAda = (name: string) => ({
      title: '{{name}}',
      recipients: [{ userId: 'ada', values: { name, unused: name } }],
    });
    const setup = await afterFirst(false, 10_000, toAda('Ada'));
    await claim(setup, 'first', 17_000);
    await end(setup, 'complete');
    expect(await repeat(setup, toAda('Ada'))).toEqual({ kind: 'sent', result });
    expect(await repeat(setup, toAda('Grace'))).toMatchObject({ code: 'idempotency_key_reused' });
  });

  test('is in progress for 29 s if the first has handed nothing over', async () => {
    const setup = await afterFirst(true, 29_000);
    expect(await repeat(setup)).toMatchObject({
      code: 'request_in_progress',
      retryAfterSeconds: 1,
    });
    expect(writes(setup)).toEqual([]);
  });

  test('is in progress until the first has ended or timed out', async () => {
    const setup = await afterFirst();
    await claim(setup, 'first', 8500);
    setup.calls.length = 0;
    expect(await repeat(setup)).toMatchObject({
      code: 'request_in_progress',
      retryAfterSeconds: 9,
    });
    expect(writes(setup)).toEqual([]);
  });

  test('is in progress until all shares of the first have timed out', async () => {
    const setup = await afterFirst();
    const { earlier } = setup.deps.sends;
    const divided = async () => {
      const found = await earlier('shop', '');
      const { notification } = found!;
      const division = { ...notification.division, shares: 2 };
      return { ...found!, notification: { ...notification, division } };
    };
    const sends = { ...setup.deps.sends, earlier: divided };
    await claim(setup, 'first', 3500);
    await claim(setup, 'first', 8500, 1);
    const deps = { ...setup.deps, sends };
    expect(await repeat({ ...setup, deps })).toMatchObject({ retryAfterSeconds: 9 });
  });

  test.each([
    [false, 7000],
    [true, 7000],
    // It has 2 s more than its claim for the cancellation.
    [false, -1999],
  ])(
    'is in progress while the first may still return its unit: nothing was attempted',
    async (isAsync, claimedMs) => {
      const setup = await afterFirst(isAsync, 20_000);
      await claim(setup, 'first', claimedMs);
      await end(setup, 'incomplete', noCounts);
      expect(await repeat(setup)).toMatchObject({
        code: 'request_in_progress',
        retryAfterSeconds: 1,
      });
    },
  );

  test('gets the response of a first that attempted nothing and could not return its unit', async () => {
    const setup = await afterFirst(false, 30_000);
    await claim(setup, 'first', -3000);
    await end(setup, 'incomplete', noCounts);
    const counts = { attempted: 0, delivered: 0, removed: 0, failed: 0, unreached: 1 };
    const usersNotReached = ['u'];
    expect(await repeat(setup)).toEqual({
      kind: 'sent',
      result: { id: 'first', ...counts, usersNotReached },
    });
  });

  test('is in progress if the first is cancelled after its notification was found', async () => {
    const setup = await afterFirst();
    await claim(setup, 'first', 7000);
    await end(setup, 'cancelled', noCounts);
    expect(await repeat(setup)).toMatchObject({
      code: 'request_in_progress',
      retryAfterSeconds: 1,
    });
  });

  test('waits a second at least', async () => {
    const setup = await afterFirst();
    await claim(setup, 'first', 0);
    expect(await repeat(setup)).toMatchObject({
      code: 'request_in_progress',
      retryAfterSeconds: 1,
    });
  });

  test('after an interrupted first gets the counts so far, and sends nothing', async () => {
    const setup = await afterFirst();
    await claim(setup, 'first', -1);
    setup.calls.length = 0;
    expect(await repeat(setup)).toEqual({
      kind: 'sent',
      result: {
        ...{ id: 'first', attempted: 3, delivered: 0, removed: 0 },
        ...{ failed: 3, failures: { interrupted: 3 }, unreached: 1 },
        usersNotReached: ['u'],
      },
    });
    expect(writes(setup)).toEqual([]);
  });

  describe('after a stop of the first', () => {
    test('gets its counts as stopped, also if nothing was attempted', async () => {
      const setup = await afterFirst();
      await claim(setup, 'first', 7000);
      await setup.deps.tallies.stop(key('first'), now.getTime());
      await endStopped(setup);
      setup.calls.length = 0;
      const counts = { attempted: 0, delivered: 0, removed: 0, failed: 0, unreached: 1 };
      expect(await repeat(setup)).toEqual({
        kind: 'sent',
        result: { id: 'first', ...counts, usersNotReached: ['u'], status: 'stopped' },
      });
      expect(writes(setup)).toEqual([]);
    });

    test('is in progress until functions have ended', async () => {
      const setup = await afterFirst();
      await claim(setup, 'first', 8500);
      await setup.deps.tallies.stop(key('first'), now.getTime());
      expect(await repeat(setup)).toMatchObject({
        code: 'request_in_progress',
        retryAfterSeconds: 9,
      });
    });

    test('hands nothing over, even if the first had not done it', async () => {
      const setup = await afterFirst(true, 29_001);
      await setup.deps.tallies.stop(key('first'), now.getTime());
      setup.calls.length = 0;
      const expected = { kind: 'accepted', id: 'first', status: 'stopped' };
      expect(await repeat(setup)).toEqual(expected);
      expect(writes(setup)).toEqual([]);
    });

    async function endStopped({ deps }: Setup): Promise<void> {
      const [tally] = await deps.tallies.find('first', [0]);
      const { by, until } = tally!.claim!;
      const writer = { by, step: 2, previous: { by, step: 1 }, knowsStop: true };
      const progress = { until, position: 1, pending: 0, counts: noCounts };
      await deps.tallies.save(key('first'), writer, { ...progress, ended: 'incomplete' });
    }
  });

  test('may be sent again after 1 s if the first has just returned its unit', async () => {
    const setup = await afterFirst();
    const sends = { ...setup.deps.sends, earlier: async () => undefined };
    const deps = { ...setup.deps, sends };
    expect(await repeat({ ...setup, deps })).toMatchObject({
      code: 'request_in_progress',
      retryAfterSeconds: 1,
    });
  });

  describe('gets a response of the form of the first,', () => {
    test.each(['sending', 'sent', 'interrupted'])('asynchronous: %s', async (status) => {
      // No attempt of a function is left after 75 minutes.
      const setup = await afterFirst(true, status === 'interrupted' ? 4_501_001 : 10_000);
      await claim(setup, 'first', status === 'interrupted' ? -1001 : 10_000);
      if (status === 'sent') await end(setup, 'complete');
      setup.calls.length = 0;
      const expected = { kind: 'accepted', id: 'first', status };
      expect(await repeat(setup, first, false)).toEqual(expected);
      expect(await repeat(setup, first, true)).toEqual(expected);
      expect(writes(setup)).toEqual([]);
    });

    test('asynchronous also where it hands the notification over after 29 s', async () => {
      const setup = await afterFirst(true, 29_001);
      const outcome = (await repeat(setup)) as SendOutcome;
      expect(outcome).toEqual({ kind: 'accepted', id: 'first', status: 'sending' });
      expect(setup.calls).toContain('invoke async 0');
    });

    test('asynchronous with the conditions as they were at the first', async () => {
      const agoMs = 29_001;
      const request = { title: 'T', channels: ['news'], seenWithinDays: 1 };
      const setup = await afterFirst(true, agoMs, request);
      const invoked: Share[] = [];
      const invoker: ShareInvoker = {
        async invoke(share) {
          invoked.push(share);
          return { kind: 'accepted' };
        },
      };
      await repeat({ ...setup, deps: { ...setup.deps, invoker } }, request, true);
      const seenSince = now.getTime() - agoMs - 2 * 24 * 60 * 60 * 1000;
      expect(invoked).toMatchObject([{ channels: ['news'], seenSince }]);
    });

    test('asynchronous as soon as the invocations are queued', async () => {
      const setup = await afterFirst(true);
      await setup.deps.tallies.open(key('first'), 0);
      setup.calls.length = 0;
      const outcome = await repeat(setup);
      expect(outcome).toEqual({ kind: 'accepted', id: 'first', status: 'sending' });
      expect(writes(setup)).toEqual([]);
    });

    test('synchronous', async () => {
      const setup = await afterFirst();
      await claim(setup, 'first', 17_000);
      await end(setup, 'complete');
      setup.calls.length = 0;
      expect(await repeat(setup, first, true)).toEqual({ kind: 'sent', result });
      expect(writes(setup)).toEqual([]);
    });
  });
});
