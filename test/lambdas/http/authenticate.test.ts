import { createHash } from 'node:crypto';
import middy from '@middy/core';
import type { Project } from '../../../contract/wire/project.ts';
import { authenticate, requireKey } from '../../../lambdas/http/authenticate.ts';
import { pathIds } from '../../../lambdas/http/request.ts';
import { errorResponses, respond } from '../../../lambdas/http/response.ts';
import { knownProject } from '../../fixtures/known-project.ts';

const currentKey = `carillon_sk_${'a'.repeat(43)}`;
const previousKey = `carillon_sk_${'b'.repeat(43)}`;
const memberKey = `carillon_mk_${'m'.repeat(43)}`;
const hash = (key: string) => createHash('sha256').update(key).digest('hex');

const project: Project = {
  ...knownProject,
  secretKeyHash: hash(currentKey),
  previousKey: { hash: hash(previousKey), until: new Date('2026-11-21T00:00:00Z') },
  members: [
    { name: 'Bob', role: 'viewer', keyHash: hash('another') },
    {
      name: 'Ann',
      role: 'sender',
      keyHash: hash(memberKey),
      until: new Date('2026-11-21T00:00:00Z'),
    },
  ],
};

/** The project as a second read finds it. */
let newer: Project | undefined;
afterEach(() => {
  newer = undefined;
});

/** Members of the log line that the last request added. */
let logged: unknown;

async function respondTo(authorization?: string, now = '2026-11-20T12:00:00Z', projectId = 'shop') {
  const handler = middy()
    .use(errorResponses())
    .use(pathIds())
    .use(
      authenticate(
        {
          find: async (id) => (id === 'shop' ? project : undefined),
          findNewer: async () => newer,
        },
        () => new Date(now),
      ),
    )
    .use(requireKey())
    .handler(async () => respond(200, {}));
  const event = {
    headers: { authorization },
    pathParameters: { projectId },
    requestContext: { requestId: 'r', timeEpoch: Date.now() },
  };
  const context = { getRemainingTimeInMillis: () => 10_000 };
  const response = await handler(event as never, context as never);
  ({ logged } = event as { logged?: unknown });
  return response;
}

async function statusOf(key: string, now?: string, projectId?: string) {
  return (await respondTo(`Bearer ${key}`, now, projectId)).statusCode;
}

async function messageFor(authorization?: string, projectId?: string): Promise<string> {
  const { statusCode, body } = await respondTo(authorization, undefined, projectId);
  expect(statusCode).toBe(401);
  return JSON.parse(body as string).error.message;
}

test('the refusal says what is wrong with the header', async () => {
  expect(await messageFor()).toContain('Send the secret key of this project as');
  expect(await messageFor('')).toContain('Send the secret key of this project as');
  for (const header of ['Basic c2hvcDo=', currentKey, 'Bearer', `Bearer ${currentKey} x`]) {
    expect(await messageFor(header)).toContain('has another form than "Bearer carillon_sk_…"');
  }
  expect(await messageFor(`Bearer ${currentKey.slice(0, -1)}`)).toContain('not a secret key');
  expect(await messageFor(`Bearer B${'N'.repeat(86)}`)).toContain('the application server key');
  expect(await messageFor(`Bearer carillon_id_${'a'.repeat(43)}`)).toContain('an identity key');
  expect(await messageFor(`Bearer ${currentKey}`, 'Shop')).toContain('The project id in the path');
});

test('spaces around the key are ignored', async () => {
  expect(await statusOf(` ${currentKey}  `)).toBe(200);
});

test('the previous key is accepted until the grace period ends', async () => {
  expect(await statusOf(previousKey, '2026-11-20T23:59:59.999Z')).toBe(200);
  expect(logged).toEqual({ previous_key: true });
  expect(await statusOf(previousKey, '2026-11-21T00:00:00Z')).toBe(401);
  expect(logged).toBeUndefined();
  expect(await statusOf(currentKey, '2026-11-21T00:00:00Z')).toBe(200);
  expect(logged).toBeUndefined();
});

test('a key that the project in memory does not have is looked for in the project as it is now', async () => {
  const newKey = `carillon_sk_${'n'.repeat(43)}`;
  expect(await statusOf(newKey)).toBe(401);
  newer = { ...project, secretKeyHash: hash(newKey) };
  expect(await statusOf(newKey)).toBe(200);
  // The one in memory still has it.
  expect(await statusOf(currentKey)).toBe(200);
});

test('the key of a member is accepted until it ends, and its log lines do not name the member', async () => {
  expect(await statusOf(memberKey, '2026-11-20T23:59:59.999Z')).toBe(200);
  expect(logged).toBeUndefined();
  expect(await statusOf(memberKey, '2026-11-21T00:00:00Z')).toBe(401);
  expect(logged).toBeUndefined();
  expect(await messageFor(`Bearer carillon_mk_${'x'.repeat(43)}`)).toContain('or was revoked');
});
