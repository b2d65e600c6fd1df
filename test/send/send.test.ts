import type { SigningProject } from '../../lambdas/contract/project.ts';
import type { SendRequest, SendResult } from '../../lambdas/contract/schemas.ts';
import type { Broadcast, DeliveryReport } from '../../lambdas/push/delivery.ts';
import { type SendParts, send } from '../../lambdas/send/send.ts';

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
      giveBack: async () => void asked.push('giveBack'),
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
    newId: () => 'the-id',
    monthlyCap: 10_000,
    observe: {
      delivered: () => asked.push('observe'),
      lost: (_, __, error) => asked.push(`lost ${(error as Error).message}`),
    },
    ...overrides,
  };
  return { parts: value, asked, broadcasts };
}

const baseUrl = 'https://push.example.com';

test('takes its unit first, delivers, writes the counts down and answers them', async () => {
  const { parts: all, asked } = parts();
  const result = await send(all, project, { request: { title: 'T' }, baseUrl });
  const counts = { id: 'the-id', attempted: 3, delivered: 1, removed: 1, failed: 1 };
  expect(result).toEqual(counts);
  expect(asked).toEqual([
    'begin under 10000',
    'deliver',
    'observe',
    `finish ${JSON.stringify(counts)}`,
  ]);
});

test('no push starts more than 25 seconds after the request', async () => {
  const { parts: all, broadcasts } = parts();
  await send(all, project, { request: { title: 'T' }, baseUrl });
  expect(broadcasts[0]!.deadline).toBe(Date.parse('2026-11-20T12:00:25Z'));
});

test('the message says where its beacons go', async () => {
  const { parts: all, broadcasts } = parts();
  await send(all, project, { request: { title: 'T' }, baseUrl });
  const { notification } = JSON.parse(broadcasts[0]!.message.toString());
  expect(notification.data.events).toBe(
    'https://push.example.com/api/v1/projects/shop/notifications/the-id/events',
  );
});

test('tells how many were not reached, where there were any', async () => {
  const { parts: all } = parts({ deliver: async () => ({ ...report, unreached: 7 }) });
  expect(await send(all, project, { request: { title: 'T' }, baseUrl })).toMatchObject({
    unreached: 7,
  });
});

test.each([
  [undefined, 10_000],
  [5, 5],
  [null, null],
])('a plan of %p notifications a month caps at %p', async (monthlySendCap, cap) => {
  const { parts: all, asked } = parts();
  await send(all, { ...project, plan: { monthlySendCap } }, { request: { title: 'T' }, baseUrl });
  expect(asked[0]).toBe(`begin under ${cap}`);
});

test('at the cap nothing is delivered, and the caller may come back next month', async () => {
  const { parts: all, asked } = parts();
  const capped = { ...all, sends: { ...all.sends, begin: async () => 'cap_reached' as const } };
  await expect(send(capped, project, { request: { title: 'T' }, baseUrl })).rejects.toMatchObject({
    code: 'send_cap_reached',
    retryAfter: (Date.parse('2026-12-01T00:00:00Z') - now.getTime()) / 1000,
  });
  expect(asked).toEqual([]);
});

test('a message that does not fit is refused, by the byte, before anything is written', async () => {
  const { parts: all, asked, broadcasts } = parts();
  await send(all, project, { request: { title: '' }, baseUrl });
  const room = 3993 - broadcasts[0]!.message.length;
  await send(all, project, { request: { title: 'x'.repeat(room) }, baseUrl });
  expect(broadcasts[1]!.message).toHaveLength(3993);
  asked.length = 0;
  await expect(
    send(all, project, { request: { title: `${'x'.repeat(room)}é` }, baseUrl }),
  ).rejects.toMatchObject({
    code: 'payload_too_large',
    message: expect.stringContaining('is 2 bytes too large'),
  });
  expect(asked).toEqual([]);
});

test('gives its unit back where nothing was attempted, and says why', async () => {
  const away = new Error('away');
  const { parts: all, asked } = parts({
    deliver: async () => ({
      ...{ attempted: 0, delivered: 0, removed: 0, failed: 0 },
      unreached: 1,
      failures: {},
      interruption: away,
    }),
  });
  await expect(send(all, project, { request: { title: 'T' }, baseUrl })).rejects.toBe(away);
  expect(asked).toEqual(['begin under 10000', 'observe', 'giveBack']);
});

test('keeps its unit where some were attempted, and answers the counts', async () => {
  const { parts: all, asked } = parts({
    deliver: async () => ({ ...report, unreached: 1, interruption: new Error('away') }),
  });
  const result = await send(all, project, { request: { title: 'T' }, baseUrl });
  expect(result).toMatchObject({ attempted: 3, unreached: 1 });
  expect(asked).not.toContain('giveBack');
});

test('answers the counts even where they cannot be written down', async () => {
  const { parts: all, asked } = parts();
  const finish = () => Promise.reject(new Error('throttled'));
  const failing = { ...all, sends: { ...all.sends, finish } };
  expect(await send(failing, project, { request: { title: 'T' }, baseUrl })).toMatchObject({
    attempted: 3,
  });
  expect(asked).toContain('lost throttled');
});

test('is addressed to the users it names', async () => {
  const { parts: all, asked } = parts();
  await send(all, project, { request: { title: 'T', userIds: ['u', 'v'] }, baseUrl });
  expect(asked).toContain('users u,v');
});

describe('a request that repeats another', () => {
  const first = { title: 'T', userIds: ['u'] };
  const answer = { id: 'first', attempted: 1, delivered: 1, removed: 0, failed: 0 };

  /** Sends `request` after `first` under the same key. */
  async function repeat(request: SendRequest, sentAt: string, result: SendResult | undefined) {
    let requestHash = '';
    const { parts: all, asked } = parts();
    const begin: SendParts['sends']['begin'] = async ({ idempotency }) => {
      requestHash = idempotency!.requestHash;
      return 'begun';
    };
    const call = { idempotencyKey: 'order-1', baseUrl };
    await send({ ...all, sends: { ...all.sends, begin } }, project, { ...call, request: first });
    asked.length = 0;
    const repeated: SendParts['sends'] = {
      ...all.sends,
      begin: async () => 'repeated',
      earlier: async () => ({ requestHash, sentAt: new Date(sentAt), result }),
    };
    const outcome = await send({ ...all, sends: repeated }, project, { ...call, request }).catch(
      (error: unknown) => error,
    );
    expect(asked).toEqual([]);
    return outcome;
  }

  test('is answered as that one was', async () => {
    expect(await repeat(first, '2026-11-20T11:00:00Z', answer)).toEqual(answer);
  });

  test('is refused with another body, whether that one has ended or not', async () => {
    for (const result of [answer, undefined]) {
      const outcome = await repeat({ title: 'U' }, '2026-11-20T11:59:59Z', result);
      expect(outcome).toMatchObject({ code: 'idempotency_key_reused' });
    }
  });

  test('is told to wait while that one is under way', async () => {
    const outcome = await repeat(first, '2026-11-20T11:59:40Z', undefined);
    expect(outcome).toMatchObject({ code: 'request_in_progress', retryAfter: 9 });
  });

  test('is told where that one broke off, and never sends again', async () => {
    const outcome = await repeat(first, '2026-11-20T11:59:31Z', undefined);
    expect(outcome).toMatchObject({
      code: 'internal_error',
      message: expect.stringContaining('broke off'),
    });
  });

  test('may come back at once where that one has just given its unit back', async () => {
    const { parts: all } = parts();
    const begin = async () => 'repeated' as const;
    await expect(
      send({ ...all, sends: { ...all.sends, begin } }, project, {
        ...{ request: first, idempotencyKey: 'order-1', baseUrl },
      }),
    ).rejects.toMatchObject({ code: 'request_in_progress', retryAfter: 1 });
  });
});
