import { randomBytes } from 'node:crypto';
import type {
  NotificationList,
  NotificationResult,
  SendResult,
} from '../../contract/wire/notification.ts';
import type { SetSettings } from '../../contract/wire/project.ts';
import { type ProjectResult, projectSchema } from '../../contract/wire/project-result.ts';
import {
  includes,
  type MemberRole,
  type Route,
  type RouteName,
  routes,
} from '../../contract/wire/routes.ts';
import { utcMonth } from '../../lambdas/store/counters.ts';
import { everyRoute } from '../fixtures/route-names.ts';
import { type CallOptions, type ProjectCredentials, useService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';
import { withinOneMinute } from '../fixtures/within-one-minute.ts';

let project: ProjectCredentials;

const service = useService();
beforeEach(async () => {
  project = await service.createProject();
});

async function read(project: ProjectCredentials, query = '') {
  const { status, body } = await callWithValidRequest<ProjectResult>(
    service,
    project,
    'getProject',
    { query },
  );
  expect(status).toBe(200);
  expect(projectSchema.parse(body)).toEqual(body);
  return body;
}

test('an owner reads the project, its caps and what it has used of them', async () => {
  const before = utcMonth(new Date());
  const project = await service.createProject({ subscriberCap: 7, monthlySendCap: 9 });
  for (const userId of ['ada', 'bob']) await service.subscribe(project, userId);
  await service.send(project, { title: 'T' });
  const found = await read(project);
  expect(found).toEqual({
    projectId: project.projectId,
    name: project.projectId,
    applicationServerKey: project.applicationServerKey,
    subscribers: 2,
    subscriberCap: 7,
    sentThisMonth: 1,
    monthlySendCap: 9,
    month: found.month,
    rateLimitPerMinute: 60,
    createdAt: found.createdAt,
    access: { role: 'owner' },
  });
  expect([before, utcMonth(new Date())]).toContain(found.month);
  expect(Date.now() - Date.parse(found.createdAt)).toBeLessThan(10 * 60_000);
});

test.each<[string, SetSettings, number | null, number | null]>([
  ['of the deployment where the project has none', {}, 100_000, 10_000],
  ['null where there is no cap', { subscriberCap: null, monthlySendCap: null }, null, null],
])('the caps are %s', async (_, settings, subscriberCap, monthlySendCap) => {
  expect(await read(await service.createProject(settings))).toMatchObject({
    subscriberCap,
    monthlySendCap,
  });
});

test('a sample counts the subscribers by when they were seen, by channel and by push service', async () => {
  const project = await service.createProject({ subscriberCap: null });
  const browsers: { readonly endpoint: string }[] = [];
  for (let index = 0; index < 20; index += 1) {
    const channels = index < 5 ? ['news', 'sales'] : index < 8 ? ['news'] : [];
    browsers.push(await service.subscribe(project, undefined, channels));
  }
  const { sample } = await read(project, '?sample=subscribers');
  expect(sample).toEqual({
    subscribers: 20,
    seenWithinDays: { 7: 20, 30: 20, 90: 20, 365: 20 },
    channels: { news: 8, sales: 5 },
    locales: {},
    pushServices: {
      [new URL(browsers[0]!.endpoint).origin]: { subscribers: 20, seenWithin30Days: 20 },
    },
  });
  expect(await read(project)).not.toHaveProperty('sample');
});

test('a sample of anything else is refused', async () => {
  const project = await service.createProject();
  const { status, body } = await callWithValidRequest(service, project, 'getProject', {
    query: '?sample=all',
  });
  expect({ status, path: body.error.issues?.[0]?.path }).toEqual({ status: 400, path: 'sample' });
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

test('a viewer does not read what a send to users opens or carries', async () => {
  const [viewer, sender] = [await invite('viewer'), await invite('sender', 'Bob')];
  const url = 'https://www.example.com/order/7';
  const personal = {
    ...{ title: 'T', url, tag: 'order-7', data: { order: 7 }, translations: { de: { url } } },
    actions: [{ action: 'open', title: 'Open', url }],
  };
  const toUsers = await service.send(project, { ...personal, userIds: ['ada'] });
  const toAll = await service.send(project, personal);
  for (const owner of [viewer, sender, project]) {
    for (const { body } of [toUsers, toAll]) {
      const parameters = { notificationId: body.id };
      const one = await callWithValidRequest(service, owner, 'getNotification', { parameters });
      const list = await callWithValidRequest<NotificationList>(
        service,
        owner,
        'listNotifications',
      );
      const listed = list.body.notifications.find(({ id }) => id === body.id);
      expect(listed).toEqual(one.body);
      const isHidden = owner === viewer && body === toUsers.body;
      expect(listed).toMatchObject(isHidden ? { title: 'T' } : personal);
      if (isHidden) expect(JSON.stringify(listed)).not.toMatch(/order/);
    }
  }
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

test('a member who exhausts the limit of requests takes nothing from the others', async () => {
  project = await service.createProject({ rateLimitPerMinute: 1 });
  const [ann, bob] = [await invite('viewer'), await invite('viewer', 'Bob')];
  const address = '10.200.0.2';
  const read = async (member: ProjectCredentials) =>
    (await callWithValidRequest(service, member, 'getProject', { address })).status;
  const statuses = [await read(ann), await read(ann), await read(bob), await read(project)];
  expect(statuses).toEqual([200, 429, 200, 200]);
});

describe('the rate limit', () => {
  /** @returns the statuses of these requests, and the last response. */
  async function callTimes(
    times: number,
    project: ProjectCredentials,
    name: RouteName,
    overrides: Partial<CallOptions>,
  ) {
    const statuses: number[] = [];
    for (;;) {
      const response = await callWithValidRequest(service, project, name, overrides);
      statuses.push(response.status);
      if (statuses.length === times) return { statuses, last: response };
    }
  }

  test.each(everyRoute)(
    'of %s refuses an address after the requests of its own limit in a minute',
    async (name) => {
      const { statuses, last, other } = await withinOneMinute(async () => {
        const project = await service.createProject({ rateLimitPerMinute: 2 });
        const address = '198.51.100.7';
        const limited = await callTimes(3, project, name, { address });
        const fromOther = { address: '198.51.100.8' };
        const other = await callWithValidRequest(service, project, name, fromOther);
        return { ...limited, other };
      });
      expect(statuses.indexOf(429)).toBe(2);
      expect(last.body.error.code).toBe('rate_limited');
      expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(last.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect(other.status).not.toBe(429);
    },
  );

  test('of an action precedes that of all actions, and the project shows both', async () => {
    const { statuses, others, body } = await withinOneMinute(async () => {
      const settings = {
        rateLimitPerMinute: 2,
        listNotificationsPerMinute: null,
        getUserPerMinute: 1,
      };
      const project = await service.createProject(settings);
      const address = '198.51.100.10';
      const { statuses } = await callTimes(2, project, 'getUser', { address });
      const { statuses: others } = await callTimes(3, project, 'listNotifications', { address });
      const { body } = await callWithValidRequest<ProjectResult>(service, project, 'getProject');
      return { statuses, others, body };
    });
    expect([statuses, others]).toEqual([
      [200, 429],
      [200, 200, 200],
    ]);
    expect(projectSchema.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      rateLimitPerMinute: 2,
      rateLimits: { listNotifications: null, getUser: 1 },
    });
  });

  test('is 60 requests if the project has none', async () => {
    const { statuses } = await withinOneMinute(async () => {
      const project = await service.createProject();
      return callTimes(61, project, 'getProject', { address: '198.51.100.9' });
    });
    expect(statuses).toEqual([...Array(60).fill(200), 429]);
  });

  test('of an address that names unknown projects does not refuse a project that exists', async () => {
    const project = await service.createProject();
    const statuses = await withinOneMinute(async (attempt) => {
      const address = `198.51.101.${attempt + 1}`;
      const parameters = { projectId: 'no-such-project' };
      const { statuses } = await callTimes(61, project, 'subscribe', { parameters, address });
      const { statuses: own } = await callTimes(1, project, 'subscribe', { address });
      return [...statuses, ...own];
    });
    expect(statuses).toEqual([...Array(60).fill(404), 429, 201]);
  });

  test('of requests that the role of a member refuses takes nothing from the owner', async () => {
    const project = await service.createProject();
    const viewer = { name: 'Ann', role: 'viewer', random: randomBytes } as const;
    const { key } = await service.registry.invite(project.projectId, viewer);
    const statuses = await withinOneMinute(async (attempt) => {
      const address = `198.51.102.${attempt + 1}`;
      const headers = { authorization: `Bearer ${key}` };
      const { statuses } = await callTimes(61, project, 'send', { headers, address });
      const { statuses: owner } = await callTimes(1, project, 'send', { address });
      return [...statuses, ...owner];
    });
    expect(statuses).toEqual([...Array(60).fill(403), 429, 201]);
  });

  test('of requests with a wrong key is the same for existing and unknown projects', async () => {
    const project = await service.createProject({ rateLimitPerMinute: null });
    const headers = { authorization: `Bearer carillon_sk_${'a'.repeat(43)}` };
    for (const [index, projectId] of [project.projectId, 'no-such-project'].entries()) {
      const { statuses } = await withinOneMinute((attempt) => {
        const address = `198.51.${index}.${attempt + 1}`;
        return callTimes(61, project, 'send', { parameters: { projectId }, headers, address });
      });
      expect(statuses).toEqual([...Array(60).fill(401), 429]);
    }
  });
});

describe('the throttles', () => {
  let nowMs = 0;

  const service = useService({ nowMs: () => nowMs });

  test('200 requests per second without a key do not throttle a send with a key', async () => {
    const owner = await service.createProject();
    const withoutKey = { parameters: { projectId: owner.projectId }, body: { title: 'T' } };
    const refused: number[] = [];
    const sent: number[] = [];
    for (let second = 0; second < 2; second++) {
      nowMs += 1000;
      for (let batch = 0; batch < 10; batch++) {
        const responses = Array.from({ length: 20 }, () => service.call(routes.send, withoutKey));
        refused.push(...(await Promise.all(responses)).map(({ status }) => status));
      }
      sent.push((await service.send(owner, { title: 'T' })).status);
    }
    expect({ sent, refused: new Set(refused) }).toEqual({
      sent: [201, 201],
      refused: new Set([401]),
    });
  });
});

test('the subscriber cap refuses a new endpoint and accepts an update', async () => {
  const project = await service.createProject({ subscriberCap: 1 });
  const browser = await service.subscribe(project);
  const refused = await callWithValidRequest(service, project, 'subscribe');
  expect(refused.status).toBe(403);
  expect(refused.body.error.code).toBe('subscriber_cap_reached');
  const updated = await callWithValidRequest(service, project, 'subscribe', {
    body: { ...browser.toJSON(), userId: 'u' },
  });
  expect(updated.status).toBe(201);
});

test('the monthly cap refuses sends until the next month', async () => {
  const project = await service.createProject({ monthlySendCap: 2 });
  expect((await service.send(project, { title: 'T' })).status).toBe(201);
  expect((await service.send(project, { title: 'T' })).status).toBe(201);
  const refused = await service.send(project, { title: 'T' });
  expect(refused.status).toBe(429);
  expect(refused.body).toMatchObject({ error: { code: 'send_cap_reached' } });
  const retryAfterSeconds = Number(refused.headers.get('retry-after'));
  const now = new Date();
  const nextMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) / 1000;
  expect(Math.abs(now.getTime() / 1000 + retryAfterSeconds - nextMonth)).toBeLessThan(5);
  expect(await service.usage(project.projectId)).toMatchObject({ sends: 2 });
});
