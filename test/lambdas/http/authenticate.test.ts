import { createHash } from 'node:crypto';
import middy from '@middy/core';
import type { Project } from '../../../contract/project.ts';
import { authenticate, requireKey } from '../../../lambdas/http/authenticate.ts';
import { errorResponses } from '../../../lambdas/http/error-responses.ts';
import { pathIds } from '../../../lambdas/http/path-ids.ts';
import { respond } from '../../../lambdas/http/response.ts';

const currentKey = `carillon_sk_${'a'.repeat(43)}`;
const previousKey = `carillon_sk_${'b'.repeat(43)}`;
const unknownKey = `carillon_sk_${'c'.repeat(43)}`;
const hash = (key: string) => createHash('sha256').update(key).digest('hex');

const project: Project = {
  projectId: 'shop',
  createdAt: '2026-11-01T00:00:00.000Z',
  secretKeyHash: hash(currentKey),
  previousKey: { hash: hash(previousKey), until: new Date('2026-11-21T00:00:00Z') },
  plan: {},
  vapid: { current: { number: 0, publicKey: 'public' } },
};

async function statusOf(key: string, now = '2026-11-20T12:00:00Z', projectId = 'shop') {
  const handler = middy()
    .use(errorResponses())
    .use(pathIds())
    .use(
      authenticate(
        async (id) => (id === 'shop' ? project : undefined),
        () => new Date(now),
      ),
    )
    .use(requireKey())
    .handler(async () => respond(200, {}));
  const event = {
    headers: { authorization: `Bearer ${key}` },
    pathParameters: { projectId },
    requestContext: { requestId: 'r', timeEpoch: Date.now() },
  };
  const context = { getRemainingTimeInMillis: () => 10_000 };
  return (await handler(event as never, context as never)).statusCode;
}

test('only the secret key of the project is accepted', async () => {
  expect(await statusOf(currentKey)).toBe(200);
  expect(await statusOf(unknownKey)).toBe(401);
  expect(await statusOf(currentKey, undefined, 'no-such-project')).toBe(401);
});

test('the previous key is accepted until the grace period ends', async () => {
  expect(await statusOf(previousKey, '2026-11-20T23:59:59.999Z')).toBe(200);
  expect(await statusOf(previousKey, '2026-11-21T00:00:00Z')).toBe(401);
  expect(await statusOf(currentKey, '2026-11-21T00:00:00Z')).toBe(200);
});
