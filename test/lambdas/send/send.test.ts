import { noCounts } from '../../../contract/wire/counts.ts';
import type { StartPushing } from '../../../lambdas/push/pushing/pusher.ts';
import { tables } from '../../simulation/database/memory-database.ts';
import {
  type DeliverySetup,
  deliverySetup,
  project,
  recipients,
  resultOf,
  startMs,
  throttled,
} from '../deliver/delivery-setup.ts';
import { fakePusher } from '../deliver/fake-pusher.ts';

const firstId = '01890a5d-ac96-774b-bcce-000000000001';
const noneAttempted = { ...noCounts, unreached: 3 };
const busy = { code: 'unavailable', retryAfterSeconds: 1 };

test('a send takes a unit, delivers, stores the counts and returns them', async () => {
  const failures = { refused: 1 };
  const counts = { attempted: 3, delivered: 1, removed: 1, failed: 1, failures };
  const setup = deliverySetup({ counts: { ...noCounts, ...counts } });
  expect(await setup.send()).toEqual({ kind: 'sent', result: { id: firstId, ...counts } });
  expect(setup.calls).toEqual([
    ...['create 0', 'write 0 attempted, 3 pending'],
    ...['push 3', 'write 3 attempted, 0 pending, ended'],
    ...['delivered', 'responded, 0 unreached'],
  ]);
  expect(await setup.sent()).toBe(1);
});

test('the notification is stored with its content, its audience and its division', async () => {
  const setup = deliverySetup();
  await setup.send({ request: { title: 'T', channels: ['news'] } });
  await setup.send({ request: { title: 'U', userIds: ['u', 'v'] }, respondAsync: true });
  const common = { slices: 1, countersPerSlice: 1 };
  expect(setup.notifications()).toMatchObject([
    {
      ...{ ...common, notificationId: firstId, content: { title: 'T' }, respondedAsync: false },
      ...{ subscribers: 3, conditions: { channels: ['news'] } },
    },
    { ...common, content: { title: 'U' }, users: 2, conditions: {}, respondedAsync: true },
  ]);
});

test('of a large broadcast to everyone, a sample of the browsers reports `shown`', async () => {
  const setup = deliverySetup();
  const sampling = { ...project, settings: { ...project.settings, shownSample: 10 } };
  const send = (channels?: readonly string[]) =>
    setup.time.until(
      setup.startSend(
        {
          ...{ audience: { subscribers: 100_001 }, respondAsync: true },
          request: { title: 'T', ...(channels && { channels: [...channels] }) },
        },
        setup.deps,
        sampling,
      ),
    );
  await send();
  await send(['news']);
  const [everyone, some] = setup.notifications();
  expect(everyone).toMatchObject({ shownSample: 10 });
  expect(some).not.toHaveProperty('shownSample');
  const asked = setup.started.map(({ notificationId: id, shownSample }) => ({ id, shownSample }));
  expect(asked).toContainEqual({ id: everyone!.notificationId, shownSample: 10 });
  expect(asked).not.toContainEqual({ id: everyone!.notificationId, shownSample: undefined });
  expect(asked).not.toContainEqual({ id: some!.notificationId, shownSample: 10 });
});

test('a notification, its slices and its events are kept for the days of the setting', async () => {
  const setup = deliverySetup({ overrides: { notificationDays: 2 } });
  await setup.send();
  const [sent] = setup.notifications();
  const end = Math.floor(Date.parse(String(sent!.sentAt)) / 1000) + 2 * 24 * 60 * 60;
  const ofDelivery = setup.database.items(tables.deliveries).map(({ expiresAt }) => expiresAt);
  expect(new Set([sent!.expiresAt, ...ofDelivery])).toEqual(new Set([end]));
});

describe('the monthly cap', () => {
  test.each([
    [undefined, 1, 1],
    [2, 1, 2],
    [null, 1, 3],
  ])(
    'of a project with %p, where the deployment has %i, allows %i',
    async (planned, deployed, most) => {
      const setup = deliverySetup({ overrides: { monthlyCap: deployed } });
      const capped = { ...project, settings: { ...project.settings, monthlySendCap: planned } };
      const sends = [1, 2, 3].map(() =>
        setup.startSend({}, setup.deps, capped).catch(({ code }) => code),
      );
      const outcomes = await setup.time.until(Promise.all(sends));
      expect(outcomes.filter((outcome) => outcome !== 'send_cap_reached')).toHaveLength(most);
      expect(await setup.sent()).toBe(most);
    },
  );

  test('refuses a send without a read of its audience, until the next UTC month', async () => {
    const setup = deliverySetup({ overrides: { monthlyCap: 1 } });
    await setup.send();
    setup.calls.length = 0;
    const nextMonth = Date.parse('2026-12-01T00:00:00Z');
    const refused = setup.send();
    await expect(refused).rejects.toMatchObject({ code: 'send_cap_reached' });
    await expect(refused).rejects.toMatchObject({
      retryAfterSeconds: Math.ceil((nextMonth - setup.time.now) / 1000),
    });
    expect(setup.calls).toEqual([]);
  });
});

test('a send of a project that was deleted is refused, and leaves nothing', async () => {
  const setup = deliverySetup();
  const unknown = { ...project, ref: 'shop-2' as typeof project.ref };
  const refused = setup.send({}, setup.deps, unknown);
  await expect(refused).rejects.toMatchObject({ code: 'unauthorized' });
  expect(setup.pushed()).toEqual([]);
  expect(setup.notifications()).toEqual([]);
});

test('a send to nobody succeeds', async () => {
  const setup = deliverySetup({ audience: [] });
  expect(resultOf(await setup.send())).toMatchObject({ attempted: 0, delivered: 0 });
});

describe('a message of more than 3,993 bytes', () => {
  const lengthOf = async (title: string, change = {}) => {
    const setup = deliverySetup();
    await setup.send({ request: { title }, ...change });
    return setup.chunks[0]!.messages[0]!.length;
  };

  test('is refused before anything is read or stored', async () => {
    const body = 'x'.repeat(3993 - (await lengthOf('T')) - '"body":"",'.length);
    const setup = deliverySetup();
    const send = (text: string) => setup.send({ request: { title: 'T', body: text } });
    await expect(send(`${body}é`)).rejects.toMatchObject({
      ...{ code: 'payload_too_large', message: expect.stringContaining('is 2 bytes too large') },
    });
    expect(setup.calls).toEqual([]);
    expect(await setup.sent()).toBe(0);
    expect(await send(body)).toMatchObject({ kind: 'sent' });
  });

  test('is measured with the URL of the last event counter', async () => {
    const body = 'x'.repeat(3993 - (await lengthOf('T')) - '"body":"",'.length);
    const request = { title: 'T', body };
    const audience = { subscribers: 300_000 };
    await expect(deliverySetup().send({ request, audience })).rejects.toMatchObject({
      code: 'payload_too_large',
      // "?tally=32" and ,"window":20
      message: expect.stringContaining('is 21 bytes too large'),
    });
  });
});

describe('a fault', () => {
  const fault = new Error('database fault');

  /** Reads of the audience fail from this one on. */
  function failingReads(setup: DeliverySetup, from = 1): DeliverySetup['deps'] {
    const { audiences } = setup.deps;
    let reads = 0;
    const everyone: typeof audiences.everyone = async (...args) => {
      reads += 1;
      if (reads >= from) throw fault;
      return audiences.everyone(...args);
    };
    return { ...setup.deps, audiences: { ...audiences, everyone } };
  }
  /** Of four chunks. */
  const slow = { pushesPerSecond: 1 };

  test('of the first read undoes the send, and is thrown', async () => {
    const setup = deliverySetup();
    await expect(setup.send({}, failingReads(setup))).rejects.toBe(fault);
    expect(await setup.sent()).toBe(0);
    expect(setup.notifications()).toEqual([]);
  });

  test('after the first attempt keeps the unit, and the counts are returned', async () => {
    const setup = deliverySetup({ audience: recipients(80), overrides: slow });
    const result = resultOf(await setup.send({}, failingReads(setup, 2)));
    expect(result.attempted).toBeGreaterThan(0);
    expect(result.attempted + result.unreached!).toBe(80);
    expect(await setup.sent()).toBe(1);
  });

  /** The database does not respond to the transaction that begins a send, although it happens. */
  function lostBegin({ deps }: DeliverySetup): DeliverySetup['deps'] {
    const begin: typeof deps.sends.begin = async (...call) => {
      await deps.sends.begin(...call);
      throw fault;
    };
    return { ...deps, sends: { ...deps.sends, begin } };
  }

  test('of begin cancels what has begun, and nothing is delivered', async () => {
    const setup = deliverySetup();
    const keyed = { idempotencyKey: 'order-1' };
    await expect(setup.send(keyed, lostBegin(setup))).rejects.toBe(fault);
    expect(setup.pushed()).toEqual([]);
    expect(await setup.sent()).toBe(0);
    // Its key is free.
    expect(await setup.send(keyed)).toMatchObject({ kind: 'sent', result: { attempted: 3 } });
  });

  test('of the cancellation is repeated until the end of the invocation', async () => {
    const setup = deliverySetup();
    const deps = lostBegin(setup);
    let failures = 5;
    const cancel: typeof deps.sends.cancel = async (...call) => {
      if (failures-- > 0) throw throttled;
      return deps.sends.cancel(...call);
    };
    const failing = { ...deps, sends: { ...deps.sends, cancel } };
    await expect(setup.send({}, failing)).rejects.toBe(fault);
    expect(await setup.sent()).toBe(0);
    failures = Number.POSITIVE_INFINITY;
    await expect(setup.send({}, failing)).rejects.toBe(fault);
    expect(setup.calls.filter((call) => call.startsWith('not cancelled'))).toHaveLength(1);
    expect(await setup.sent()).toBe(1);
  });

  test('of the cancellation that cannot pass is reported at once', async () => {
    const setup = deliverySetup();
    const deps = lostBegin(setup);
    const cancel = () => Promise.reject(new Error('not authorized'));
    const failing = { ...deps, sends: { ...deps.sends, cancel } };
    await expect(setup.send({}, failing)).rejects.toBe(fault);
    expect(setup.calls).toContain('not cancelled: not authorized');
    expect(setup.time.now).toBe(startMs + 1000);
  });

  test('of the last write is reported, and the caller is told that the counts are not known', async () => {
    const setup = deliverySetup();
    const { slices } = setup.deps;
    const write: typeof slices.write = async (key, one, signal) => {
      if (one.ended) throw throttled;
      return slices.write(key, one, signal);
    };
    const deps = { ...setup.deps, slices: { ...slices, write } };
    await expect(setup.send({}, deps)).rejects.toMatchObject({
      code: 'outcome_unknown',
      location: `https://push.example.com/api/v1/projects/shop/notifications/${firstId}`,
    });
    expect(setup.calls).toContain(`not stored: ${throttled.message}`);
  });

  test('of the last write, once, loses no outcome that the request knows', async () => {
    const setup = deliverySetup();
    const { slices } = setup.deps;
    let failures = 1;
    const write: typeof slices.write = async (key, one, signal) => {
      if (one.ended && failures-- > 0) throw fault;
      return slices.write(key, one, signal);
    };
    const deps = { ...setup.deps, slices: { ...slices, write } };
    expect(await setup.send({}, deps)).toMatchObject({ result: { attempted: 3, delivered: 3 } });
    expect(setup.calls).toContain('delivered');
  });

  test.each([
    ['with', 'order-1', 'Repeat the request with the same Idempotency-Key to send it.'],
    ['without', undefined, 'Try again in a second.'],
  ])('of everything after begin keeps the send, and says so: %s a key', async (_, key, says) => {
    const setup = deliverySetup();
    const fails = () => Promise.reject(throttled);
    const { sends, slices, audiences } = setup.deps;
    const deps = {
      ...setup.deps,
      audiences: { ...audiences, everyone: fails },
      slices: { find: fails, write: fails },
      sends: { ...sends, cancel: fails },
    };
    const keyed = key === undefined ? {} : { idempotencyKey: key };
    await expect(setup.send(keyed, deps)).rejects.toMatchObject({
      ...{ code: 'unavailable', message: expect.stringContaining(says) },
    });
    expect(await setup.sent()).toBe(1);
    expect(slices).toBe(setup.deps.slices);
    await setup.until(40_000);
    if (key) expect(await setup.send(keyed)).toMatchObject({ result: { delivered: 3 } });
  });
});

test('a claim that fails once is tried again while a caller waits', async () => {
  const setup = deliverySetup();
  const { slices } = setup.deps;
  let failures = 1;
  const write: typeof slices.write = (...call) =>
    failures-- > 0 ? Promise.reject(throttled) : slices.write(...call);
  const deps = { ...setup.deps, slices: { ...slices, write } };
  expect(resultOf(await setup.send({}, deps))).toMatchObject({ attempted: 3, delivered: 3 });
});

test('a begin that fails once is tried again, and happens once', async () => {
  const setup = deliverySetup();
  const { sends } = setup.deps;
  let failures = 1;
  const begin: typeof sends.begin = async (...call) => {
    const begun = await sends.begin(...call);
    if (failures-- > 0) throw throttled;
    return begun;
  };
  const deps = { ...setup.deps, sends: { ...sends, begin } };
  expect(resultOf(await setup.send({}, deps))).toMatchObject({ delivered: 3 });
  expect(await setup.sent()).toBe(1);
});

test('the month of a send is that in which it was read', async () => {
  const setup = deliverySetup({ overrides: { monthlyCap: 1 } });
  await setup.send();
  const sentAt = new Date('2026-11-30T23:59:59.500Z');
  await setup.time.until(setup.time.sleep(sentAt.getTime() + 1000 - setup.time.now));
  const full = await setup.send({ sentAt }).catch((error: unknown) => error);
  expect(full).toMatchObject({ code: 'send_cap_reached', retryAfterSeconds: 1 });
  expect(await setup.send()).toMatchObject({ kind: 'sent' });
});

test('the time of a send is that in which its audience was read', async () => {
  const setup = deliverySetup();
  const sentAt = new Date(setup.time.now - 1500);
  await setup.send({ sentAt });
  expect(setup.notifications()).toMatchObject([{ sentAt: sentAt.toISOString() }]);
});

test('a send whose recipients have all passed to other users is over, and attempts nobody', async () => {
  const passed = { ...noCounts, unreached: 3 };
  const setup = deliverySetup();
  const startPushing: StartPushing = (options) => ({
    ...fakePusher(setup.push)(options),
    soFar: () => passed,
    end: async () => new Map(),
  });
  const outcome = await setup.send({}, { ...setup.deps, startPushing });
  expect(resultOf(outcome)).toMatchObject({ attempted: 0, unreached: 3 });
  expect(await setup.sent()).toBe(1);
});

test('a send that attempts nothing in time is cancelled and fails as unavailable', async () => {
  const setup = deliverySetup({ counts: noneAttempted, chunkMs: 21_500 });
  await expect(setup.send()).rejects.toMatchObject(busy);
  expect(await setup.sent()).toBe(0);
});

test.each([
  [false, { result: { attempted: 0, unreached: 3, status: 'stopped' } }],
  [true, { kind: 'accepted', status: 'stopped' }],
])(
  'a send that is stopped before it would be cancelled is kept; asynchronous: %s',
  async (respondAsync, expected) => {
    const setup = deliverySetup();
    const { deps } = setup;
    const begin: typeof deps.sends.begin = async (...call) => {
      await deps.sends.begin(...call);
      const { id: notificationId } = call[0];
      await setup.slices.stop({ notificationId, slice: 0, expiresAt: 5e9 }, setup.time.now);
      throw new Error('no response');
    };
    const lost = { ...deps, sends: { ...deps.sends, begin } };
    expect(await setup.send({ respondAsync }, lost)).toMatchObject(expected);
    expect(setup.pushed()).toEqual([]);
    expect(await setup.sent()).toBe(1);
  },
);

test('a claim whose response comes after its try counts nobody twice', async () => {
  const setup = deliverySetup();
  const { slices } = setup.deps;
  let isFirst = true;
  const write: typeof slices.write = async (...call) => {
    const isLate = isFirst;
    isFirst = false;
    const refused = await slices.write(...call);
    // A try has 2 s, and the next one begins 150 ms later.
    if (isLate) await setup.time.sleep(2050);
    return refused;
  };
  const deps = { ...setup.deps, slices: { ...slices, write } };
  expect(resultOf(await setup.send({}, deps))).toMatchObject({
    ...{ attempted: 3, delivered: 3, failed: 0 },
  });
});

test('a slice whose end is stored without a response is logged and measured', async () => {
  const setup = deliverySetup();
  const { slices } = setup.deps;
  let failures = 1;
  const write: typeof slices.write = async (key, one, signal) => {
    const refused = await slices.write(key, one, signal);
    if (one.ended && failures-- > 0) throw throttled;
    return refused;
  };
  await setup.send({}, { ...setup.deps, slices: { ...slices, write } });
  expect(setup.calls).toContain('delivered');
});
