import { send } from '../../../lambdas/send/send.ts';
import { call, now, project, recordedParts, report } from './recorded-parts.ts';

test('a send takes a unit, delivers, records the counts and returns them', async () => {
  const { parts, calls } = recordedParts();
  const result = await send(parts, project, { ...call, request: { title: 'T' } });
  const counts = { id: 'the-id', attempted: 3, delivered: 1, removed: 1, failed: 1 };
  expect(result).toEqual(counts);
  expect(calls).toEqual([
    'begin under 10000',
    'deliver',
    'observe',
    `finish ${JSON.stringify(counts)}`,
  ]);
});

test('time limits count from the arrival of the request at the gateway', async () => {
  const timeoutsMs: number[] = [];
  const abortAfter = (ms: number) => {
    timeoutsMs.push(ms);
    return new AbortController().signal;
  };
  const { parts, broadcasts } = recordedParts({ abortAfter });
  await send(parts, project, { ...call, request: { title: 'T' } });
  expect(broadcasts[0]).toMatchObject({
    lastPushAt: call.startedAt.getTime() + 22_000,
    endAt: call.startedAt.getTime() + 25_000,
  });
  expect(timeoutsMs).toEqual([27_000 - 1000]);
});

test('the push message has the URL of its events', async () => {
  const { parts, broadcasts } = recordedParts();
  await send(parts, project, { ...call, request: { title: 'T' } });
  const { notification } = JSON.parse(broadcasts[0]!.message.toString());
  expect(notification.data.events).toBe(
    'https://push.example.com/api/v1/projects/shop/notifications/the-id/events',
  );
});

test('the result includes unreached subscribers', async () => {
  const { parts } = recordedParts({ deliver: async () => ({ ...report, unreached: 7 }) });
  expect(await send(parts, project, { ...call, request: { title: 'T' } })).toMatchObject({
    unreached: 7,
  });
});

test.each([
  [undefined, 10_000],
  [5, 5],
  [null, null],
])('a plan with monthlySendCap %p has the cap %p', async (monthlySendCap, cap) => {
  const { parts, calls } = recordedParts();
  await send(parts, { ...project, plan: { monthlySendCap } }, { ...call, request: { title: 'T' } });
  expect(calls[0]).toBe(`begin under ${cap}`);
});

test('at the cap a send delivers nothing, and Retry-After is the next month', async () => {
  const { parts, calls } = recordedParts();
  const capped = { ...parts, sends: { ...parts.sends, begin: async () => 'cap_reached' as const } };
  await expect(send(capped, project, { ...call, request: { title: 'T' } })).rejects.toMatchObject({
    code: 'send_cap_reached',
    retryAfter: (Date.parse('2026-12-01T00:00:00Z') - now.getTime()) / 1000,
  });
  expect(calls).toEqual([]);
});

test('a push message of more than 3,993 bytes is refused before anything is stored', async () => {
  const { parts, calls, broadcasts } = recordedParts();
  await send(parts, project, { ...call, request: { title: '' } });
  const roomBytes = 3993 - broadcasts[0]!.message.length;
  await send(parts, project, { ...call, request: { title: 'x'.repeat(roomBytes) } });
  expect(broadcasts[1]!.message).toHaveLength(3993);
  calls.length = 0;
  await expect(
    send(parts, project, { ...call, request: { title: `${'x'.repeat(roomBytes)}é` } }),
  ).rejects.toMatchObject({
    code: 'payload_too_large',
    message: expect.stringContaining('is 2 bytes too large'),
  });
  expect(calls).toEqual([]);
});

test('a fault before the first attempt releases the unit and is thrown', async () => {
  const fault = new Error('database fault');
  const { parts, calls } = recordedParts({
    deliver: async () => ({
      ...{ attempted: 0, delivered: 0, removed: 0, failed: 0 },
      unreached: 1,
      failures: {},
      interruption: fault,
    }),
  });
  await expect(send(parts, project, { ...call, request: { title: 'T' } })).rejects.toBe(fault);
  expect(calls).toEqual(['begin under 10000', 'observe', 'release']);
});

test('a fault after the first attempt keeps the unit, and the counts are returned', async () => {
  const { parts, calls } = recordedParts({
    deliver: async () => ({ ...report, unreached: 1, interruption: new Error('database fault') }),
  });
  const result = await send(parts, project, { ...call, request: { title: 'T' } });
  expect(result).toMatchObject({ attempted: 3, unreached: 1 });
  expect(calls).not.toContain('release');
});

test('the counts are returned even if they cannot be stored', async () => {
  const { parts, calls } = recordedParts();
  const finish = () => Promise.reject(new Error('throttled'));
  const failing = { ...parts, sends: { ...parts.sends, finish } };
  expect(await send(failing, project, { ...call, request: { title: 'T' } })).toMatchObject({
    attempted: 3,
  });
  expect(calls).toContain('not recorded: throttled');
});

test('a targeted send reads the subscriptions of its user ids', async () => {
  const { parts, calls } = recordedParts();
  await send(parts, project, { ...call, request: { title: 'T', userIds: ['u', 'v'] } });
  expect(calls).toContain('users u,v');
});

test('a send that attempts nothing in time releases its unit and fails as unavailable', async () => {
  const { parts, calls } = recordedParts({
    deliver: async () => ({ ...report, attempted: 0, unreached: 3 }),
  });
  await expect(send(parts, project, { ...call, request: { title: 'T' } })).rejects.toMatchObject({
    code: 'unavailable',
    retryAfter: 1,
  });
  expect(calls).toContain('release');
});

test.each(['begin', 'claim'] as const)(
  'a failed %s is cancelled, and nothing is delivered',
  async (step) => {
    const { parts, calls } = recordedParts();
    const fail = () => Promise.reject(new Error('no response'));
    const failing = { ...parts, sends: { ...parts.sends, [step]: fail } };
    const keyed = { ...call, idempotencyKey: 'order-1', request: { title: 'T' } };
    await expect(send(failing, project, keyed)).rejects.toThrow('no response');
    expect(calls.at(-1)).toBe('cancel');
    expect(calls).not.toContain('deliver');
  },
);
