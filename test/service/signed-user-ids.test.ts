import { randomBytes } from 'node:crypto';
import type { ErrorBody } from '../../contract/wire/errors.ts';
import { routes } from '../../contract/wire/routes.ts';
import type { UserSubscriptions } from '../../contract/wire/user.ts';
import { projectCacheMs } from '../../lambdas/store/projects.ts';
import { signUserId } from '../../sdk/server/carillon-server.ts';
import { readTables } from '../fixtures/read-table.ts';
import { type ApiResponse, type ProjectCredentials, useService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

/** Accepts user ids only with a signature. */
let signed: ProjectCredentials;
let open: ProjectCredentials;

// One instance, so that each function remembers what an earlier request has read.
const service = useService({ concurrency: 1 });
beforeAll(async () => {
  signed = await service.createProject({ userIds: 'signed' });
  open = await service.createProject();
});

interface User {
  readonly userId?: unknown;
  readonly userIdSignature?: unknown;
  readonly applicationServerKey?: string;
}

/** Subscribes a new browser, or the one with this endpoint. */
function subscribe(
  { projectId, applicationServerKey }: ProjectCredentials,
  user: User,
  browser = service.stack.pushService.subscribe({ applicationServerKey }),
): Promise<ApiResponse<ErrorBody>> {
  const body = { ...browser.toJSON(), ...user };
  return service.call(routes.subscribe, { parameters: { projectId }, body });
}

async function subscriptionsOf(project: ProjectCredentials, userId: string): Promise<number> {
  const query = `?userId=${encodeURIComponent(userId)}`;
  const { body } = await callWithValidRequest<UserSubscriptions>(service, project, 'getUser', {
    query,
  });
  return body.subscriptions;
}

const codeOf = ({ status, body }: ApiResponse<ErrorBody>) => `${status} ${body.error?.code}`;
const invalid = '403 user_id_signature_invalid';

test.each(['ada', 'zoë/42', 'e\u0301', ' ', '💣'.repeat(256), '\ufffd', '{"a":1}\0', '__proto__'])(
  'the user id %j is accepted with its signature, and receives what is sent to it',
  async (userId) => {
    const { applicationServerKey, identityKey } = signed;
    const browser = service.stack.pushService.subscribe({ applicationServerKey });
    const userIdSignature = signUserId(identityKey, userId);
    expect((await subscribe(signed, { userId, userIdSignature }, browser)).status).toBe(201);
    await service.send(signed, { title: 'T', userIds: [userId] });
    expect(browser.messages).toHaveLength(1);
  },
);

test('a signed project takes subscriptions without a user id', async () => {
  expect((await subscribe(signed, {})).status).toBe(201);
});

/** The signature of a user id in another spelling of base64, which is the same number. */
function respelled(identityKey: string): { userId: string; userIdSignature: string } {
  for (let number = 0; ; number += 1) {
    const userId = `user-${number}`;
    const signature = signUserId(identityKey, userId);
    const userIdSignature = signature.replaceAll('-', '+').replaceAll('_', '/');
    if (userIdSignature !== signature) return { userId, userIdSignature };
  }
}

describe('a wrong signature is refused, also where none is required, and nothing is stored:', () => {
  const foreignKey = `carillon_id_${'a'.repeat(43)}`;

  test.each<[string, (key: string) => User]>([
    ['of another user id', (key) => ({ userIdSignature: signUserId(key, 'ada') })],
    ['of another project', () => ({ userIdSignature: signUserId(foreignKey, 'bob') })],
    [
      'of the composed form',
      (key) => ({ userId: 'e\u0301', userIdSignature: signUserId(key, '\u00e9') }),
    ],
    ['of a capital letter', (key) => ({ userIdSignature: signUserId(key, 'Bob') })],
    ['with padding', (key) => ({ userIdSignature: `${signUserId(key, 'bob')}=` })],
    ['with a space', (key) => ({ userIdSignature: `${signUserId(key, 'bob')} ` })],
    ['in standard base64', respelled],
    ['empty', () => ({ userIdSignature: '' })],
    ['43 letters outside ASCII', () => ({ userIdSignature: 'é'.repeat(43) })],
    ['12,000 characters', () => ({ userIdSignature: 'a'.repeat(12_000) })],
  ])('%s', async (_, user) => {
    for (const project of [signed, open]) {
      const before = await readTables(service.dynamo, service.stack.dynamodb.tables);
      const response = await subscribe(project, { userId: 'bob', ...user(project.identityKey) });
      expect(codeOf(response)).toBe(invalid);
      expect(await readTables(service.dynamo, service.stack.dynamodb.tables)).toEqual(before);
    }
  });
});

test.each([
  ['a signature without a user id', { userIdSignature: 'x' }],
  ['a signature that is not a text', { userId: 'ada', userIdSignature: 7 }],
  ['a signature that is null', { userId: 'ada', userIdSignature: null }],
  ['half a surrogate pair as the user id', { userId: '\ud800', userIdSignature: 'x' }],
])('%s is refused as invalid, before the signature is checked', async (_, user) => {
  expect(codeOf(await subscribe(signed, user))).toBe('400 invalid_request');
});

test('a signed project refuses a user id without a signature, and keeps what is stored', async () => {
  const { applicationServerKey, identityKey } = signed;
  const browser = service.stack.pushService.subscribe({ applicationServerKey });
  const userId = 'carol';
  await subscribe(signed, { userId, userIdSignature: signUserId(identityKey, userId) }, browser);
  for (const [claimed, from] of [
    ['dora', browser],
    [userId, browser],
    [userId, undefined],
  ] as const) {
    const response = await subscribe(signed, { userId: claimed }, from);
    expect(codeOf(response)).toBe('403 user_id_signature_required');
  }
  expect(await subscriptionsOf(signed, userId)).toBe(1);
  expect(await subscriptionsOf(signed, 'dora')).toBe(0);
});

test('a refused signature comes before a full project, and after an unknown one', async () => {
  const full = await service.createProject({ subscriberCap: 1, userIds: 'signed' });
  await subscribe(full, {});
  const wrong = { userId: 'ada', userIdSignature: 'x' };
  expect(codeOf(await subscribe(full, wrong))).toBe(invalid);
  const withUnknownKey = { ...wrong, applicationServerKey: open.applicationServerKey };
  expect(codeOf(await subscribe(full, withUnknownKey))).toBe(invalid);
  expect(codeOf(await subscribe(full, { userId: 'ada' }))).toBe('403 user_id_signature_required');
  expect(codeOf(await subscribe(full, {}))).toBe('403 subscriber_cap_reached');
  const unknown = { ...full, projectId: 'unknown' };
  expect(codeOf(await subscribe(unknown, wrong))).toBe('404 project_not_found');
});

describe('rotation', () => {
  const graceMs = 60_000;
  const claimWith = (project: ProjectCredentials, key: string) =>
    subscribe(project, { userId: 'ada', userIdSignature: signUserId(key, 'ada') });

  test('a key is valid at once after its rotation, though the function remembers the project', async () => {
    const project = await service.createProject({ userIds: 'signed' });
    expect((await claimWith(project, project.identityKey)).status).toBe(201);
    const rotate = () =>
      service.registry.rotateIdentityKey(project.projectId, randomBytes, graceMs);
    const second = await rotate();
    expect((await claimWith(project, second.identityKey)).status).toBe(201);
    expect((await claimWith(project, project.identityKey)).status).toBe(201);
    const third = await rotate();
    expect((await claimWith(project, third.identityKey)).status).toBe(201);
    expect((await claimWith(project, second.identityKey)).status).toBe(201);
    expect(codeOf(await claimWith(project, project.identityKey))).toBe(invalid);
  });

  test('a new key brings the cap of the project as it is then', async () => {
    const project = await service.createProject({ userIds: 'signed' });
    await subscribe(project, {});
    await service.registry.set(project.projectId, { subscriberCap: 1 });
    const { identityKey } = await service.registry.rotateIdentityKey(
      project.projectId,
      randomBytes,
      graceMs,
    );
    expect(codeOf(await claimWith(project, identityKey))).toBe('403 subscriber_cap_reached');
  });

  test('the previous key ends with its grace period, and at once without one', async () => {
    const project = await service.createProject();
    const rotate = (gracePeriodMs: number) =>
      service.registry.rotateIdentityKey(project.projectId, randomBytes, gracePeriodMs);
    const second = await rotate(graceMs);
    expect((await claimWith(project, project.identityKey)).status).toBe(201);
    service.stack.freeze(graceMs, 'reset');
    expect(codeOf(await claimWith(project, project.identityKey))).toBe(invalid);
    const third = await rotate(0);
    expect((await claimWith(project, third.identityKey)).status).toBe(201);
    expect(codeOf(await claimWith(project, second.identityKey))).toBe(invalid);
  });
});

test('a project becomes signed, and open again, when functions read it again', async () => {
  const project = await service.createProject();
  const claim = () => subscribe(project, { userId: 'ada' });
  expect((await claim()).status).toBe(201);
  await service.registry.set(project.projectId, { userIds: 'signed' });
  service.stack.freeze(projectCacheMs, 'reset');
  expect(codeOf(await claim())).toBe('403 user_id_signature_required');
  expect(await subscriptionsOf(project, 'ada')).toBe(1);
  await service.registry.set(project.projectId, { userIds: 'open' });
  service.stack.freeze(projectCacheMs, 'reset');
  expect((await claim()).status).toBe(201);
});

test.each([
  ['a signature', () => ({ userId: 'ada', userIdSignature: 'x' })],
  ['a key', () => ({ applicationServerKey: open.applicationServerKey })],
])('%s for a project that has just been deleted is refused with 404', async (_, fields) => {
  const project = await service.createProject();
  await subscribe(project, {});
  await service.registry.remove(project.projectId);
  expect(codeOf(await subscribe(project, fields()))).toBe('404 project_not_found');
});

test('the responses of owners and the errors contain no identity key', async () => {
  const { status, body } = await callWithValidRequest(service, signed, 'getProject');
  const refused = await subscribe(signed, { userId: 'ada', userIdSignature: 'x' });
  expect(status).toBe(200);
  expect(JSON.stringify([body, refused.body])).not.toContain(signed.identityKey);
  expect(body).not.toHaveProperty('userIds');
});
