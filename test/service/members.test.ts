import { randomBytes } from 'node:crypto';
import type {
  NotificationList,
  NotificationResult,
  SendResult,
} from '../../contract/wire/notification.ts';
import { type ProjectResult, projectSchema } from '../../contract/wire/project-result.ts';
import {
  includes,
  type MemberRole,
  type Route,
  type RouteName,
  routes,
} from '../../contract/wire/routes.ts';
import { type ProjectCredentials, useService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

let project: ProjectCredentials;

const service = useService();
beforeEach(async () => {
  project = await service.createProject();
});

async function invite(role: MemberRole, name = 'Ann'): Promise<ProjectCredentials> {
  const member = { name, role, random: randomBytes };
  const { key } = await service.registry.invite(project.projectId, member);
  return { ...project, secretKey: key };
}

/** What each role may never call, whatever the table of routes says. */
const refused: Readonly<Record<MemberRole, readonly RouteName[]>> = {
  viewer: ['send', 'stopNotification', 'getUser', 'removeUser'],
  sender: ['removeUser'],
};
const ownerRoutes = Object.values<Route>(routes).filter((route) => route.caller === 'owner');

describe.each(['viewer', 'sender'] as const)('a %s', (role) => {
  test.each(ownerRoutes)(
    'calls $name only if the role includes it',
    async ({ name, role: least }) => {
      const member = await invite(role);
      const { body: sent } = await service.send(project, { title: 'By the owner' });
      const parameters = { notificationId: sent.id };
      const { status, body } = await callWithValidRequest(service, member, name, { parameters });
      if (!refused[role].includes(name) && includes(role, least)) {
        expect(status).toBeLessThan(300);
      } else {
        expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'not_permitted' });
        expect(body.error.message).toContain(`The role "${role}" may not `);
      }
    },
  );
});

test('the project says whose key the request has', async () => {
  const read = async (owner: ProjectCredentials) => {
    const { body } = await callWithValidRequest<ProjectResult>(service, owner, 'getProject');
    expect(projectSchema.parse(body)).toEqual(body);
    return body.access;
  };
  const ann = await invite('sender', 'Ann Lee');
  expect(await read(ann)).toEqual({ role: 'sender', name: 'Ann Lee' });
  expect(await read(project)).toEqual({ role: 'owner' });
});

test('a notification shows which member sent it, also after the member is gone', async () => {
  const ann = await invite('sender');
  const { body: byAnn } = await service.send(ann, { title: 'T' });
  const { body: byOwner } = await service.send(project, { title: 'T' });
  await service.registry.revoke(project.projectId, 'Ann');
  const read = async ({ id: notificationId }: SendResult) => {
    const parameters = { notificationId };
    const options = { parameters };
    return callWithValidRequest<NotificationResult>(service, project, 'getNotification', options);
  };
  expect((await read(byAnn)).body.sentBy).toBe('Ann');
  expect((await read(byOwner)).body).not.toHaveProperty('sentBy');
  const list = await callWithValidRequest<NotificationList>(service, project, 'listNotifications');
  expect(list.body.notifications.map(({ sentBy }) => sentBy)).toEqual([undefined, 'Ann']);
});

test('an Idempotency-Key is the project’s: a repetition by another member sends nothing', async () => {
  const headers = { 'idempotency-key': 'one' };
  const [ann, bob] = [await invite('sender'), await invite('sender', 'Bob')];
  const { body: first } = await service.send(ann, { title: 'T' }, headers);
  const { status, body } = await service.send(bob, { title: 'T' }, headers);
  expect({ status, body }).toEqual({ status: 201, body: first });
});

test('a refused role changes nothing, and is refused before its request is read', async () => {
  await service.subscribe(project, 'ada');
  const viewer = await invite('viewer');
  const { status } = await service.send(viewer, { nonsense: true });
  expect(status).toBe(403);
  const removal = await callWithValidRequest(service, viewer, 'removeUser', { query: '' });
  expect(removal.status).toBe(403);
  expect(await service.usage(project.projectId)).toMatchObject({ subscribers: 1, sends: 0 });
});

test('the limit of requests comes before the role', async () => {
  const limited = await service.createProject({ sendPerMinute: 1 });
  project = limited;
  const viewer = await invite('viewer');
  const address = '10.200.0.1';
  const send = () => callWithValidRequest(service, viewer, 'send', { address });
  expect([(await send()).status, (await send()).status]).toEqual([403, 429]);
});

test('an expired, a revoked and an unknown key are refused with the same words', async () => {
  const { projectId } = project;
  const short = { name: 'Short', role: 'sender', random: randomBytes } as const;
  const { key: expired } = await service.registry.invite(projectId, { ...short, lifetimeMs: 1 });
  const { key: revoked } = await service.registry.invite(projectId, { ...short, name: 'Gone' });
  await service.registry.revoke(projectId, 'Gone');
  const answers = [];
  for (const secretKey of [expired, revoked, `carillon_mk_${'x'.repeat(43)}`]) {
    const owner = { ...project, secretKey };
    const { status, body } = await callWithValidRequest(service, owner, 'send');
    answers.push({ status, body });
  }
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]).toMatchObject({ status: 401, body: { error: { code: 'unauthorized' } } });
});

test('a member key of another project is refused', async () => {
  const { secretKey } = await invite('sender');
  const other = await service.createProject();
  const response = await callWithValidRequest(service, { ...other, secretKey }, 'getProject');
  expect(response.status).toBe(401);
});

test('a new secret key leaves the keys of members valid', async () => {
  const ann = await invite('viewer');
  await service.registry.rotateKey(project.projectId, randomBytes);
  const { status } = await callWithValidRequest(service, ann, 'getProject');
  expect(status).toBe(200);
});

test('the members of a project share its limit of requests', async () => {
  project = await service.createProject({ rateLimitPerMinute: 1 });
  const [ann, bob] = [await invite('viewer'), await invite('viewer', 'Bob')];
  const address = '10.200.0.2';
  const read = async (member: ProjectCredentials) =>
    (await callWithValidRequest(service, member, 'getProject', { address })).status;
  expect([await read(ann), await read(bob)]).toEqual([200, 429]);
});
