import { createHash } from 'node:crypto';
import middy from '@middy/core';
import type { Project } from '../../../contract/project.ts';
import { authenticate, requireKey } from '../../../lambdas/http/authenticate.ts';
import { errorResponses } from '../../../lambdas/http/error-responses.ts';
import { pathIds } from '../../../lambdas/http/path-ids.ts';
import { respond } from '../../../lambdas/http/response.ts';

const present = `carillon_sk_${'a'.repeat(43)}`;
const former = `carillon_sk_${'b'.repeat(43)}`;
const other = `carillon_sk_${'c'.repeat(43)}`;
const hash = (key: string) => createHash('sha256').update(key).digest('hex');

const project: Project = {
  projectId: 'shop',
  apiKeyHash: hash(present),
  previousKey: { hash: hash(former), until: new Date('2026-11-21T00:00:00Z') },
  plan: {},
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
    requestContext: { requestId: 'r' },
  };
  return (await handler(event as never, {} as never)).statusCode;
}

test('takes the key of the project and no other', async () => {
  expect(await statusOf(present)).toBe(200);
  expect(await statusOf(other)).toBe(401);
  expect(await statusOf(present, undefined, 'no-such-project')).toBe(401);
});

test('takes the former key until its grace is over', async () => {
  expect(await statusOf(former, '2026-11-20T23:59:59.999Z')).toBe(200);
  expect(await statusOf(former, '2026-11-21T00:00:00Z')).toBe(401);
  expect(await statusOf(present, '2026-11-21T00:00:00Z')).toBe(200);
});
