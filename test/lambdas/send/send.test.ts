import type { SigningProject } from '../../../contract/project.ts';
import type { SendRequest, SendResult } from '../../../contract/schemas.ts';
import type { Broadcast, DeliveryReport } from '../../../lambdas/push/delivery/delivery.ts';
import { type SendParts, send } from '../../../lambdas/send/send.ts';

const project: SigningProject = {
  projectId: 'shop',
  apiKeyHash: '',
  vapid: { publicKey: 'public', privateKey: 'private' },
  plan: {},
};
const report: DeliveryReport = {
  attempted: 3,
  delivered: 1,
  removed: 1,
  failed: 1,
  unreached: 0,
  failures: { refused: 1 },
};
const now = new Date('2026-11-20T12:00:00Z');
const audience = { ordered: true, pages: () => [] as never };

/** Parts that say what was asked of them, in order. */
function parts(overrides: Partial<SendParts> = {}) {
  const asked: string[] = [];
  const broadcasts: Broadcast[] = [];
  const value: SendParts = {
    sends: {
      begin: async (_, cap) => {
        asked.push(`begin under ${cap}`);
        return 'begun';
      },
      claim: async () => {
        asked.push('claim');
        return true;
      },
      release: async () => {
        asked.push('release');
        return true;
      },
      cancel: async () => void asked.push('cancel'),
      earlier: async () => undefined,
      finish: async (_, result) => void asked.push(`finish ${JSON.stringify(result)}`),
    },
    audiences: {
      everyone: () => audience,
      users: (_, ids) => {
        asked.push(`users ${ids}`);
        return audience;
      },
      removeGone: async () => {},
    },
    deliver: async (broadcast) => {
      asked.push('deliver');
      broadcasts.push(broadcast);
      return report;
    },
    clock: () => now,
    abortAfter: () => new AbortController().signal,
    newId: () => 'the-id',
    monthlyCap: 10_000,
    observe: {
      delivered: () => asked.push('observe'),
      recordFailed: (_, __, error) => asked.push(`not recorded: ${(error as Error).message}`),
    },
    ...overrides,
  };
  return { parts: value, asked, broadcasts };
}

/** A request that reached the gateway a second before the function. */
const call = {
  baseUrl: 'https://push.example.com',
  requestId: 'this-request',
  startedAt: new Date(now.getTime() - 1000),
};

test('takes its unit, delivers, records the counts and returns them', async () => {
  const { parts: all, asked } = parts();
  const result = await send(all, project, { ...call, request: { title: 'T' } });
  const counts = { id: 'the-id', attempted: 3, delivered: 1, removed: 1, failed: 1 };
  expect(result).toEqual(counts);
  expect(asked).toEqual([
    'begin under 10000',
    'deliver',
    'observe',
    `finish ${JSON.stringify(counts)}`,
  ]);
});

test('the time is counted from when the request reached the gateway', async () => {
  const times: number[] = [];
  const abortAfter = (ms: number) => {
    times.push(ms);
    return new AbortController().signal;
  };
  const { parts: all, broadcasts } = parts({ abortAfter });
  await send(all, project, { ...call, request: { title: 'T' } });
  expect(broadcasts[0]).toMatchObject({
    lastPushAt: call.startedAt.getTime() + 22_000,
    endAt: call.startedAt.getTime() + 25_000,
  });
  expect(times).toEqual([27_000 - 1000]);
});

test('the message says where its beacons go', async () => {
  const { parts: all, broadcasts } = parts();
  await send(all, project, { ...call, request: { title: 'T' } });
  const { notification } = JSON.parse(broadcasts[0]!.message.toString());
  expect(notification.data.events).toBe(
    'https://push.example.com/api/v1/projects/shop/notifications/the-id/events',
  );
});

test('tells how many were not reached, where there were any', async () => {
  const { parts: all } = parts({ deliver: async () => ({ ...report, unreached: 7 }) });
  expect(await send(all, project, { ...call, request: { title: 'T' } })).toMatchObject({
    unreached: 7,
  });
});

test.each([
  [undefined, 10_000],
  [5, 5],
  [null, null],
])('a plan of %p notifications a month caps at %p', async (monthlySendCap, cap) => {
  const { parts: all, asked } = parts();
  await send(all, { ...project, plan: { monthlySendCap } }, { ...call, request: { title: 'T' } });
  expect(asked[0]).toBe(`begin under ${cap}`);
});

test('at the cap nothing is delivered, and the caller may come back next month', async () => {
  const { parts: all, asked } = parts();
  const capped = { ...all, sends: { ...all.sends, begin: async () => 'cap_reached' as const } };
  await expect(send(capped, project, { ...call, request: { title: 'T' } })).rejects.toMatchObject({
    code: 'send_cap_reached',
    retryAfter: (Date.parse('2026-12-01T00:00:00Z') - now.getTime()) / 1000,
  });
  expect(asked).toEqual([]);
});

test('a message that does not fit is refused, by the byte, before anything is written', async () => {
  const { parts: all, asked, broadcasts } = parts();
  await send(all, project, { ...call, request: { title: '' } });
  const room = 3993 - broadcasts[0]!.message.length;
  await send(all, project, { ...call, request: { title: 'x'.repeat(room) } });
  expect(broadcasts[1]!.message).toHaveLength(3993);
  asked.length = 0;
  await expect(
    send(all, project, { ...call, request: { title: `${'x'.repeat(room)}é` } }),
  ).rejects.toMatchObject({
    code: 'payload_too_large',
    message: expect.stringContaining('is 2 bytes too large'),
  });
  expect(asked).toEqual([]);
});

test('returns its unit where nothing was attempted, and says why', async () => {
  const away = new Error('away');
  const { parts: all, asked } = parts({
    deliver: async () => ({
      ...{ attempted: 0, delivered: 0, removed: 0, failed: 0 },
      unreached: 1,
      failures: {},
      interruption: away,
    }),
  });
  await expect(send(all, project, { ...call, request: { title: 'T' } })).rejects.toBe(away);
  expect(asked).toEqual(['begin under 10000', 'observe', 'release']);
});

test('keeps its unit where some were attempted, and answers the counts', async () => {
  const { parts: all, asked } = parts({
    deliver: async () => ({ ...report, unreached: 1, interruption: new Error('away') }),
  });
  const result = await send(all, project, { ...call, request: { title: 'T' } });
  expect(result).toMatchObject({ attempted: 3, unreached: 1 });
  expect(asked).not.toContain('release');
});

test('answers the counts even where they cannot be written down', async () => {
  const { parts: all, asked } = parts();
  const finish = () => Promise.reject(new Error('throttled'));
  const failing = { ...all, sends: { ...all.sends, finish } };
  expect(await send(failing, project, { ...call, request: { title: 'T' } })).toMatchObject({
    attempted: 3,
  });
  expect(asked).toContain('not recorded: throttled');
});

test('is addressed to the users it names', async () => {
  const { parts: all, asked } = parts();
  await send(all, project, { ...call, request: { title: 'T', userIds: ['u', 'v'] } });
  expect(asked).toContain('users u,v');
});

test('a send for which no time is left returns its unit, and may be tried again', async () => {
  const { parts: all, asked } = parts({
    deliver: async () => ({ ...report, attempted: 0, unreached: 3 }),
  });
  await expect(send(all, project, { ...call, request: { title: 'T' } })).rejects.toMatchObject({
    code: 'unavailable',
    retryAfter: 1,
  });
  expect(asked).toContain('release');
});

test.each(['begin', 'claim'] as const)(
  'a %s whose outcome is unknown is cancelled, and nothing is delivered',
  async (step) => {
    const { parts: all, asked } = parts();
    const fail = () => Promise.reject(new Error('no answer'));
    const failing = { ...all, sends: { ...all.sends, [step]: fail } };
    const keyed = { ...call, idempotencyKey: 'order-1', request: { title: 'T' } };
    await expect(send(failing, project, keyed)).rejects.toThrow('no answer');
    expect(asked.at(-1)).toBe('cancel');
    expect(asked).not.toContain('deliver');
  },
);

describe('a request under a key', () => {
  const keyed = { ...call, idempotencyKey: 'order-1', request: { title: 'T' } };

  test('is claimed before it is delivered', async () => {
    const { parts: all, asked } = parts();
    await send(all, project, keyed);
    expect(asked.slice(0, 3)).toEqual(['begin under 10000', 'claim', 'deliver']);
  });

  test('is told to wait where a repetition was faster to claim it', async () => {
    const { parts: all, asked } = parts();
    const claim = async () => false;
    await expect(
      send({ ...all, sends: { ...all.sends, claim } }, project, keyed),
    ).rejects.toMatchObject({ code: 'request_in_progress', retryAfter: 1 });
    expect(asked).toEqual(['begin under 10000']);
  });
});

describe('a request that repeats another', () => {
  const first = { title: 'T', userIds: ['u'] };
  const answer = { id: 'first', attempted: 1, delivered: 1, removed: 0, failed: 0 };
  const keyed = { ...call, idempotencyKey: 'order-1' };

  interface Earlier {
    /** When a request began to deliver it; absent where none has. */
    readonly claimedAt?: string;
    readonly result?: SendResult;
  }

  /** Sends `request` after `first` under the same key. @returns the outcome, and what was asked. */
  async function repeat(request: SendRequest, { claimedAt, result }: Earlier) {
    let requestHash = '';
    const { parts: all, asked } = parts();
    const begin: SendParts['sends']['begin'] = async ({ idempotency }) => {
      requestHash = idempotency!.requestHash;
      return 'begun';
    };
    await send({ ...all, sends: { ...all.sends, begin } }, project, { ...keyed, request: first });
    asked.length = 0;
    const repeated: SendParts['sends'] = {
      ...all.sends,
      begin: async () => 'repeated',
      earlier: async () => ({
        id: 'first',
        requestHash,
        sentAt: new Date('2026-11-20T11:00:00Z'),
        claimedAt: claimedAt === undefined ? undefined : new Date(claimedAt),
        result,
      }),
    };
    const outcome = await send({ ...all, sends: repeated }, project, { ...keyed, request }).catch(
      (error: unknown) => error,
    );
    return { outcome, asked };
  }

  test('gets the response of that one', async () => {
    const { outcome, asked } = await repeat(first, {
      claimedAt: '2026-11-20T11:00:01Z',
      result: answer,
    });
    expect(outcome).toEqual(answer);
    expect(asked).toEqual([]);
  });

  test('is refused with another body, whether that one has ended or not', async () => {
    for (const result of [answer, undefined]) {
      const { outcome, asked } = await repeat({ title: 'U' }, { ...(result && { result }) });
      expect(outcome).toMatchObject({ code: 'idempotency_key_reused' });
      expect(asked).toEqual([]);
    }
  });

  test('delivers that one where nobody has begun to', async () => {
    const { outcome, asked } = await repeat(first, {});
    expect(outcome).toEqual({ id: 'first', attempted: 3, delivered: 1, removed: 1, failed: 1 });
    expect(asked).toEqual(expect.arrayContaining(['claim', 'deliver']));
  });

  test('is told to wait while that one is under way', async () => {
    const { outcome, asked } = await repeat(first, { claimedAt: '2026-11-20T11:59:40Z' });
    expect(outcome).toMatchObject({ code: 'request_in_progress', retryAfter: 9 });
    expect(asked).toEqual([]);
  });

  test('is told where that one broke off, and never sends again', async () => {
    const { outcome, asked } = await repeat(first, { claimedAt: '2026-11-20T11:59:31Z' });
    expect(outcome).toMatchObject({
      code: 'send_interrupted',
      message: expect.stringContaining('was interrupted'),
    });
    expect(asked).toEqual([]);
  });

  test('may be repeated at once where that one has just returned its unit', async () => {
    const { parts: all } = parts();
    const begin = async () => 'repeated' as const;
    await expect(
      send({ ...all, sends: { ...all.sends, begin } }, project, { ...keyed, request: first }),
    ).rejects.toMatchObject({ code: 'request_in_progress', retryAfter: 1 });
  });
});
