import { noCounts } from '../../../contract/counts.ts';
import type { ShareInvoker } from '../../../lambdas/send/run-shares.ts';
import type { NewNotification } from '../../../lambdas/store/send-writes.ts';
import { fakePusher } from '../deliver/fake-pusher.ts';
import {
  call,
  now,
  project,
  recordedDependencies,
  report,
  sendWith,
} from './recorded-dependencies.ts';

/** All chunks end so. */
const ending = (chunkReport: typeof report) =>
  fakePusher(() => ({ done: Promise.resolve(chunkReport), soFar: () => noCounts }));

test('a send takes a unit, delivers, records the counts and returns them', async () => {
  const setup = recordedDependencies();
  const outcome = await sendWith(setup);
  const failures = { refused: 1 };
  const counts = { attempted: 3, delivered: 1, removed: 1, failed: 1, failures };
  expect(outcome).toEqual({ kind: 'sent', result: { id: 'the-id', ...counts } });
  expect(setup.calls).toEqual([
    'everyone 0-4294967296',
    'begin under 10000',
    'claim 0 to 4294967296, 3 pending',
    'deliver',
    'save 3 attempted, 0 pending, complete',
    'observe',
    'sent, 0 unreached, 0 interrupted',
  ]);
});

test('the notification is stored with its content, its audience and its division', async () => {
  const begun: NewNotification[] = [];
  const setup = recordedDependencies();
  const begin = async (notification: NewNotification) => {
    begun.push(notification);
    return 'begun' as const;
  };
  const deps = { ...setup.deps, sends: { ...setup.deps.sends, begin } };
  await sendWith({ ...setup, deps });
  await sendWith(
    { ...setup, deps },
    { request: { title: 'U', userIds: ['u', 'v'] }, respondAsync: true },
  );
  const common = { projectId: 'shop', projectCreatedAt: project.createdAt, id: 'the-id' };
  expect(begun).toEqual([
    {
      ...common,
      content: { title: 'T' },
      division: { subscribers: 3, shares: 1, talliesPerShare: 1, respondedAsync: false },
      sentAt: now,
      claimed: [expect.objectContaining({ claimedBy: 'this-request', pending: 3 })],
    },
    {
      ...common,
      content: { title: 'U' },
      division: { users: 2, shares: 1, talliesPerShare: 1, respondedAsync: true },
      sentAt: now,
    },
  ]);
});

test('time limits count from the arrival of the request at the gateway', async () => {
  const timeoutsMs: number[] = [];
  const abortAfter = (ms: number) => {
    timeoutsMs.push(ms);
    return new AbortController().signal;
  };
  const setup = recordedDependencies({ abortAfter });
  await sendWith(setup);
  expect(setup.chunks[0]).toMatchObject({
    lastPushAt: call.startedAt.getTime() + 22_000,
    endAt: call.startedAt.getTime() + 25_000,
  });
  // Calls of the send, of its chunk, and the one that stores the counts.
  expect(timeoutsMs).toEqual([27_000 - 1000, 25_000 - 1000, 26_000 - 1000]);
});

test('the push message has the URL of its events', async () => {
  const setup = recordedDependencies();
  await sendWith(setup);
  const { notification } = JSON.parse(setup.chunks[0]!.messages[0]!.toString());
  expect(notification.data.events).toBe(
    'https://push.example.com/api/v1/projects/shop/notifications/the-id/events',
  );
});

test('the result includes unreached subscribers', async () => {
  const setup = recordedDependencies({ startPushing: ending({ ...report, unreached: 7 }) });
  expect(await sendWith(setup)).toMatchObject({ result: { unreached: 7 } });
  expect(setup.calls).toContain('sent, 7 unreached, 0 interrupted');
});

test.each([
  [undefined, 10_000],
  [5, 5],
  [null, null],
])('a plan with monthlySendCap %p has the cap %p', async (monthlySendCap, cap) => {
  const setup = recordedDependencies();
  await sendWith(setup, {}, { ...project, plan: { monthlySendCap } });
  expect(setup.calls).toContain(`begin under ${cap}`);
});

test.each([
  ['cap_reached', 'send_cap_reached', (Date.parse('2026-12-01T00:00:00Z') - now.getTime()) / 1000],
  ['project_gone', 'unauthorized', undefined],
] as const)(
  'a send that does not begin, because of %s, delivers nothing',
  async (outcome, code, retryAfterSeconds) => {
    const setup = recordedDependencies();
    const sends = { ...setup.deps.sends, begin: async () => outcome };
    await expect(sendWith({ ...setup, deps: { ...setup.deps, sends } })).rejects.toMatchObject({
      code,
      retryAfterSeconds,
    });
    expect(setup.calls).toEqual(['everyone 0-4294967296']);
  },
);

test('a push message of more than 3,993 bytes is refused before anything is stored', async () => {
  const setup = recordedDependencies();
  const sendTitle = (title: string) => sendWith(setup, { request: { title } });
  const lengthOf = async (title: string) => {
    const { deps, ...own } = recordedDependencies();
    await sendWith({ ...own, deps }, { request: { title } });
    return own.chunks[0]!.messages[0]!.length;
  };
  const longest = 'x'.repeat(3993 - (await lengthOf('')));
  expect(await lengthOf(longest)).toBe(3993);
  setup.calls.length = 0;
  await expect(sendTitle(`${longest}é`)).rejects.toMatchObject({
    code: 'payload_too_large',
    message: expect.stringContaining('is 2 bytes too large'),
  });
  expect(setup.calls).toEqual([]);
});

test('the limit of a push message applies to the URL of the last tally', async () => {
  const setup = recordedDependencies();
  await sendWith(setup, { request: { title: '' } });
  const request = { title: 'x'.repeat(3993 - setup.chunks[0]!.messages[0]!.length) };
  await expect(sendWith(setup, { request })).resolves.toMatchObject({ kind: 'sent' });
  const audience = { subscribers: 300_000 };
  await expect(sendWith(setup, { request, audience })).rejects.toMatchObject({
    code: 'payload_too_large',
    // "?tally=32" and ,"window":20
    message: expect.stringContaining('is 21 bytes too large'),
  });
});

describe('a fault', () => {
  const fault = new Error('database fault');

  /** The audience has two chunks, of which the reads from this one on fail. */
  function failingFrom(read: number, overrides: Parameters<typeof recordedDependencies>[0] = {}) {
    const setup = recordedDependencies({ pushesPerSecond: 1000, ...overrides });
    let reads = 0;
    const everyone = async () => {
      reads += 1;
      if (reads >= read) throw fault;
      return { recipients: [], isCut: false };
    };
    const audiences = { ...setup.deps.audiences, everyone };
    return { ...setup, deps: { ...setup.deps, audiences } };
  }

  test('of the first read is thrown before the send begins', async () => {
    const setup = failingFrom(1);
    await expect(sendWith(setup)).rejects.toBe(fault);
    expect(setup.calls).toEqual([]);
  });

  test('before the first attempt cancels the send and is thrown', async () => {
    const setup = failingFrom(2, { startPushing: ending(noCounts) });
    const audience = { subscribers: 60_000 };
    await expect(sendWith(setup, { audience })).rejects.toBe(fault);
    expect(setup.calls.slice(-2)).toEqual(['observe', 'cancel by this-request']);
  });

  test('after the first attempt keeps the unit, and the counts are returned', async () => {
    const setup = failingFrom(2, { startPushing: ending(report) });
    const audience = { subscribers: 60_000 };
    expect(await sendWith(setup, { audience })).toMatchObject({
      result: { attempted: 3, unreached: 59_997 },
    });
    expect(setup.calls).not.toContain('cancel by this-request');
  });

  test('of the cancellation is observed, and the first fault is thrown', async () => {
    const setup = failingFrom(2, { startPushing: ending(noCounts) });
    const cancel = () => Promise.reject(new Error('throttled'));
    const deps = { ...setup.deps, sends: { ...setup.deps.sends, cancel } };
    const audience = { subscribers: 60_000 };
    await expect(sendWith({ ...setup, deps }, { audience })).rejects.toBe(fault);
    expect(setup.calls).toContain('not cancelled: throttled');
  });

  test('of begin cancels what may have begun, and nothing is delivered', async () => {
    const setup = recordedDependencies();
    const begin = () => Promise.reject(new Error('no response'));
    const deps = { ...setup.deps, sends: { ...setup.deps.sends, begin } };
    await expect(sendWith({ ...setup, deps }, { idempotencyKey: 'order-1' })).rejects.toThrow(
      'no response',
    );
    expect(setup.calls).toEqual(['everyone 0-4294967296', 'cancel by this-request']);
  });
});

test('the counts are returned even if they cannot be stored', async () => {
  const setup = recordedDependencies();
  const { tallies } = setup.deps;
  const save: typeof tallies.save = async (key, writer, progress, signal) => {
    if (writer.step > 1) throw new Error('throttled');
    return tallies.save(key, writer, progress, signal);
  };
  const deps = { ...setup.deps, tallies: { ...tallies, save } };
  expect(await sendWith({ ...setup, deps })).toMatchObject({ result: { attempted: 3 } });
  expect(setup.calls).toContain('not recorded: throttled');
});

test('a targeted send reads the subscriptions of its user ids', async () => {
  const setup = recordedDependencies();
  await sendWith(setup, { request: { title: 'T', userIds: ['u', 'v'] } });
  expect(setup.calls).toContain('users u,v');
});

test('a send that attempts nothing in time is cancelled and fails as unavailable', async () => {
  const setup = recordedDependencies({ startPushing: ending({ ...noCounts, unreached: 3 }) });
  await expect(sendWith(setup)).rejects.toMatchObject({
    code: 'unavailable',
    retryAfterSeconds: 1,
  });
  expect(setup.calls.at(-1)).toBe('cancel by this-request');
});

test('a send that another function may have delivered is not cancelled', async () => {
  const setup = recordedDependencies({ startPushing: ending({ ...noCounts, unreached: 3 }) });
  const { tallies } = setup.deps;
  const invoker: ShareInvoker = {
    async invoke(share) {
      const progress = { until: share.deadline!.endAt, position: share.to, pending: 1 };
      const writer = { by: 'function', step: 1 };
      await tallies.save(share, writer, { ...progress, counts: noCounts, ended: undefined });
      return { kind: 'unknown' };
    },
  };
  const find = () => Promise.reject(new Error('no response'));
  const deps = { ...setup.deps, invoker, tallies: { ...tallies, find } };
  const audience = { subscribers: 60_000 };
  expect(await sendWith({ ...setup, deps }, { audience })).toMatchObject({
    result: { attempted: 0 },
  });
  expect(setup.calls).not.toContain('cancel by this-request');
});

describe('a send that is stopped', () => {
  const nothing = { attempted: 0, delivered: 0, removed: 0, failed: 0 };

  /** A stop of the notification's first share, just before the send claims another chunk. */
  function stoppedBeforeClaim(overrides: Parameters<typeof recordedDependencies>[0] = {}) {
    const setup = recordedDependencies(overrides);
    const { tallies } = setup.deps;
    const save: typeof tallies.save = async (key, writer, progress, signal) => {
      await tallies.stop(key, now.getTime());
      return tallies.save(key, writer, progress, signal);
    };
    return { ...setup, deps: { ...setup.deps, tallies: { ...tallies, save } } };
  }

  test('has its counts and says so', async () => {
    const setup = stoppedBeforeClaim();
    expect(await sendWith(setup)).toMatchObject({ result: { attempted: 3, status: 'stopped' } });
  });

  test('is not cancelled if nothing was attempted, and nobody is alarmed', async () => {
    const startPushing = ending({ ...noCounts, unreached: 3 });
    const setup = stoppedBeforeClaim({ startPushing });
    expect(await sendWith(setup)).toEqual({
      kind: 'sent',
      result: { id: 'the-id', ...nothing, unreached: 3, status: 'stopped' },
    });
    expect(setup.calls).not.toContain('cancel by this-request');
  });

  test('in a share that a function delivers says so', async () => {
    const setup = recordedDependencies();
    const invoker: ShareInvoker = {
      invoke: async () => ({
        kind: 'result',
        result: { ...noCounts, isComplete: false, isStopped: true },
      }),
    };
    const audience = { subscribers: 60_000 };
    const deps = { ...setup.deps, invoker };
    expect(await sendWith({ ...setup, deps }, { audience })).toMatchObject({
      result: { attempted: 3, unreached: 59_997, status: 'stopped' },
    });
  });

  /** The notification is stopped between the last write of the send and its cancellation. */
  const stoppedBeforeCancel = (
    setup: ReturnType<typeof recordedDependencies>,
    change: Partial<typeof setup.deps.sends> = {},
  ) => {
    const cancel = async () => 'stopped' as const;
    return { ...setup, deps: { ...setup.deps, sends: { ...setup.deps.sends, cancel, ...change } } };
  };

  test('just before it would be cancelled is kept', async () => {
    const startPushing = ending({ ...noCounts, unreached: 3 });
    const setup = stoppedBeforeCancel(recordedDependencies({ startPushing }));
    expect(await sendWith(setup)).toEqual({
      kind: 'sent',
      result: { id: 'the-id', ...nothing, unreached: 3, status: 'stopped' },
    });
  });

  test.each([
    [false, { kind: 'sent', result: { id: 'the-id', unreached: 3, status: 'stopped' } }],
    [true, { kind: 'accepted', id: 'the-id', status: 'stopped' }],
  ])('before begin has a response is kept; asynchronous: %s', async (respondAsync, expected) => {
    const begin = () => Promise.reject(new Error('no response'));
    const setup = stoppedBeforeCancel(recordedDependencies(), { begin });
    expect(await sendWith(setup, { respondAsync })).toMatchObject(expected);
    expect(setup.chunks).toEqual([]);
  });

  test('before any function takes it is kept', async () => {
    const invoker: ShareInvoker = { invoke: async () => ({ kind: 'throttled' }) };
    const setup = stoppedBeforeCancel(recordedDependencies({ invoker }));
    const everyone = () => Promise.reject(new Error('throttled'));
    const deps = { ...setup.deps, audiences: { ...setup.deps.audiences, everyone } };
    expect(await sendWith({ ...setup, deps }, { respondAsync: true })).toEqual({
      kind: 'accepted',
      id: 'the-id',
      status: 'stopped',
    });
  });
});

test('a send to nobody succeeds', async () => {
  const setup = recordedDependencies({ startPushing: ending(noCounts) });
  const audience = { subscribers: 0 };
  expect(await sendWith(setup, { audience })).toMatchObject({ result: { attempted: 0 } });
});

describe('an asynchronous send', () => {
  test('hands its shares to functions and returns at once', async () => {
    const setup = recordedDependencies();
    const audience = { subscribers: 60_000 };
    const outcome = await sendWith(setup, { respondAsync: true, audience });
    expect(outcome).toEqual({ kind: 'accepted', id: 'the-id', status: 'sending' });
    expect(setup.calls).toEqual([
      'begin under 10000',
      'invoke async 0',
      'invoke async 2',
      'invoke async 4',
      'open 0',
    ]);
  });

  test('passes no deadline to them', async () => {
    const setup = recordedDependencies();
    const invoke = jest.fn(async () => ({ kind: 'accepted' as const }));
    await sendWith(
      { ...setup, deps: { ...setup.deps, invoker: { invoke } } },
      { respondAsync: true },
    );
    const [share] = invoke.mock.calls[0] as unknown[];
    expect(share).toMatchObject({ notificationId: 'the-id', deadline: undefined });
  });

  test('that no function takes, and of which nobody can be read, is cancelled', async () => {
    const setup = recordedDependencies({
      invoker: { invoke: async () => ({ kind: 'throttled' }) },
    });
    const everyone = () => Promise.reject(new Error('throttled'));
    const deps = {
      ...setup.deps,
      audiences: { ...setup.deps.audiences, everyone },
    };
    await expect(sendWith({ ...setup, deps }, { respondAsync: true })).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(setup.calls.at(-1)).toBe('cancel by this-request');
  });

  test('of user ids has shares of at most 250', async () => {
    const setup = recordedDependencies();
    const userIds = Array.from({ length: 600 }, (_, index) => `u${index}`);
    await sendWith(setup, { request: { title: 'T', userIds }, respondAsync: true });
    expect(setup.calls.slice(1, 4)).toEqual(['invoke async 0', 'invoke async 1', 'invoke async 2']);
  });
});
