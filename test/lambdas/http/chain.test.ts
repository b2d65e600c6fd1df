import { createHash } from 'node:crypto';
import type { Logger } from '@aws-lambda-powertools/logger';
import { ServiceError } from '../../../contract/wire/errors.ts';
import { routes } from '../../../contract/wire/routes.ts';
import { chain, ownerChain } from '../../../lambdas/http/chain.ts';
import { respond } from '../../../lambdas/http/response.ts';
import type { RateLimitStore } from '../../../lambdas/store/rate-limits.ts';
import { knownProject } from '../../fixtures/known-project.ts';

test('the chain does not time out before Lambda does', async () => {
  let end: () => void = () => {};
  const work = new Promise<void>((resolve) => {
    end = resolve;
  });
  const handler = chain().handler(async () => {
    await work;
    return respond(200, {});
  });
  const running = handler({}, { getRemainingTimeInMillis: () => 0 } as never);
  // middy's time-out would reject within this wait.
  await new Promise((resolve) => setTimeout(resolve, 10));
  end();
  expect((await running).statusCode).toBe(200);
});

describe('a request of an owner', () => {
  const key = `carillon_sk_${'a'.repeat(43)}`;
  const secretKeyHash = createHash('sha256').update(key).digest('hex');
  const project = { ...knownProject, secretKeyHash };

  /** Calls a chain with the right key, unless another one is given. */
  async function call(
    counter: Partial<RateLimitStore>,
    readInput: () => Promise<string>,
    { usedKey = key, settings = {} } = {},
  ) {
    const handler = ownerChain(
      {
        route: routes.getProject,
        logger,
        clock: () => new Date(),
        abortAfter: AbortSignal.timeout,
        projects: {
          find: async () => ({ ...project, settings: { ...project.settings, ...settings } }),
          findNewer: async () => undefined,
        },
        rateLimits: { count: async () => 0, refused: () => 0, ...counter },
        perMinute: 60,
        originSecret: { hashes: [], isRequired: false },
      },
      readInput,
    ).handler(async ({ input }) => respond(200, { input }));
    const event = {
      headers: { authorization: `Bearer ${usedKey}` },
      pathParameters: { projectId: 'shop' },
      requestContext: {
        requestId: 'r',
        timeEpoch: Date.now(),
        http: { method: 'GET', sourceIp: '203.0.113.1' },
      },
    };
    const context = { awsRequestId: 'f', getRemainingTimeInMillis: () => 10_000 };
    const response = await handler(event as never, context as never);
    return { status: response.statusCode, body: JSON.parse(response.body!) };
  }

  const logger = {
    setPersistentLogAttributes() {},
    info() {},
    error() {},
  } as unknown as Logger;

  const notFound = () =>
    Promise.reject(new ServiceError('notification_not_found', 'There is none.'));

  test('is read if it has no limit, and not counted', async () => {
    const count = jest.fn();
    const settings = { rateLimitPerMinute: null };
    expect(await call({ count }, async () => 'stored', { settings })).toMatchObject({
      status: 200,
    });
    expect(count).not.toHaveBeenCalled();
  });

  test.each([
    ['finds something', async () => 'stored'],
    ['finds nothing', notFound],
    ['fails', () => Promise.reject(new Error('a fault'))],
  ])('is refused beyond the limit, also if its read %s', async (_, read) => {
    const { status, body } = await call({ count: async () => 30 }, read);
    expect({ status, code: body.error.code }).toEqual({ status: 429, code: 'rate_limited' });
  });

  test('is refused if it cannot be counted, whatever its read finds', async () => {
    const unavailable = new ServiceError('unavailable', 'The database is busy.');
    const response = await call({ count: () => Promise.reject(unavailable) }, notFound);
    expect(response.status).toBe(503);
  });

  test('has no response while its read goes on', async () => {
    const ended: string[] = [];
    const reading = signal();
    const response = call({ count: async () => 30 }, () =>
      reading.given.then(() => {
        ended.push('read');
        return '';
      }),
    ).then(() => ended.push('response'));
    await new Promise(setImmediate);
    reading.give();
    await response;
    expect(ended).toEqual(['read', 'response']);
  });

  test('is counted also if its read refuses it', async () => {
    const count = jest.fn(async () => 0);
    expect(await call({ count }, notFound)).toMatchObject({ status: 404 });
    expect(count).toHaveBeenCalledTimes(1);
  });

  test('reads nothing if its address is known to be over the limit', async () => {
    const [count, read] = [jest.fn(), jest.fn()];
    const response = await call({ count, refused: () => 30 }, read);
    expect(response.status).toBe(429);
    expect(count).not.toHaveBeenCalled();
    expect(read).not.toHaveBeenCalled();
  });

  test.each(['carillon_sk_', `carillon_sk_${'b'.repeat(43)}`])(
    'reads nothing with the key "%s"',
    async (usedKey) => {
      const read = jest.fn();
      expect(await call({}, read, { usedKey })).toMatchObject({ status: 401 });
      expect(read).not.toHaveBeenCalled();
    },
  );

  test('with the right key is not refused for wrong keys from the same address', async () => {
    const refused = ({ projectId }: { projectId: string }) => (projectId === 'shop' ? 0 : 30);
    const count = async (request: { projectId: string }) => refused(request);
    const read = async () => 'stored';
    expect(await call({ count, refused }, read)).toMatchObject({ status: 200 });
    const usedKey = `carillon_sk_${'b'.repeat(43)}`;
    expect(await call({ count, refused }, read, { usedKey })).toMatchObject({ status: 429 });
  });
});

/** An event that happens once. */
function signal() {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { give: () => give(), given };
}
