import type { SendRequest, SendResult } from '../../../contract/schemas.ts';
import { type SendParts, send } from '../../../lambdas/send/send.ts';
import { call, project, recordedParts } from './recorded-parts.ts';

const keyed = { ...call, idempotencyKey: 'order-1' };

describe('the first request with an idempotency key', () => {
  const request = { title: 'T' };

  test('claims the notification before it delivers', async () => {
    const { parts, calls } = recordedParts();
    await send(parts, project, { ...keyed, request });
    expect(calls.slice(0, 3)).toEqual(['begin under 10000', 'claim', 'deliver']);
  });

  test('is in progress if a repeated request has claimed the notification', async () => {
    const { parts, calls } = recordedParts();
    const claim = async () => false;
    await expect(
      send({ ...parts, sends: { ...parts.sends, claim } }, project, { ...keyed, request }),
    ).rejects.toMatchObject({ code: 'request_in_progress', retryAfter: 1 });
    expect(calls).toEqual(['begin under 10000']);
  });
});

describe('a repeated request', () => {
  const first = { title: 'T', userIds: ['u'] };
  const firstResult = { id: 'first', attempted: 1, delivered: 1, removed: 0, failed: 0 };

  interface Earlier {
    /** When a request claimed the delivery; absent if none has. */
    readonly claimedAt?: string;
    readonly result?: SendResult;
  }

  /** Sends `request` after `first`, with the same key. @returns its result or error, and its calls. */
  async function repeat(request: SendRequest, { claimedAt, result }: Earlier) {
    let requestHash = '';
    const { parts, calls } = recordedParts();
    const begin: SendParts['sends']['begin'] = async ({ idempotency }) => {
      requestHash = idempotency!.requestHash;
      return 'begun';
    };
    const firstParts = { ...parts, sends: { ...parts.sends, begin } };
    await send(firstParts, project, { ...keyed, request: first });
    calls.length = 0;
    const repeated: SendParts['sends'] = {
      ...parts.sends,
      begin: async () => 'repeated',
      earlier: async () => ({
        id: 'first',
        requestHash,
        sentAt: new Date('2026-11-20T11:00:00Z'),
        claimedAt: claimedAt === undefined ? undefined : new Date(claimedAt),
        result,
      }),
    };
    const outcome = await send({ ...parts, sends: repeated }, project, { ...keyed, request }).catch(
      (error: unknown) => error,
    );
    return { outcome, calls };
  }

  test('gets the response of the first', async () => {
    const { outcome, calls } = await repeat(first, {
      claimedAt: '2026-11-20T11:00:01Z',
      result: firstResult,
    });
    expect(outcome).toEqual(firstResult);
    expect(calls).toEqual([]);
  });

  test('with a different body is refused, before and after the first has ended', async () => {
    for (const result of [firstResult, undefined]) {
      const { outcome, calls } = await repeat({ title: 'U' }, { ...(result && { result }) });
      expect(outcome).toMatchObject({ code: 'idempotency_key_reused' });
      expect(calls).toEqual([]);
    }
  });

  test('delivers the notification if no request has claimed it', async () => {
    const { outcome, calls } = await repeat(first, {});
    expect(outcome).toEqual({ id: 'first', attempted: 3, delivered: 1, removed: 1, failed: 1 });
    expect(calls).toEqual(expect.arrayContaining(['claim', 'deliver']));
  });

  test('is in progress until the first has ended or timed out', async () => {
    const { outcome, calls } = await repeat(first, { claimedAt: '2026-11-20T11:59:40Z' });
    expect(outcome).toMatchObject({ code: 'request_in_progress', retryAfter: 9 });
    expect(calls).toEqual([]);
  });

  test('is refused if the first was interrupted, and sends nothing', async () => {
    const { outcome, calls } = await repeat(first, { claimedAt: '2026-11-20T11:59:31Z' });
    expect(outcome).toMatchObject({
      code: 'send_interrupted',
      message: expect.stringContaining('was interrupted'),
    });
    expect(calls).toEqual([]);
  });

  test('may be sent again after 1 s if the first has just returned its unit', async () => {
    const { parts } = recordedParts();
    const begin = async () => 'repeated' as const;
    await expect(
      send({ ...parts, sends: { ...parts.sends, begin } }, project, { ...keyed, request: first }),
    ).rejects.toMatchObject({ code: 'request_in_progress', retryAfter: 1 });
  });
});
