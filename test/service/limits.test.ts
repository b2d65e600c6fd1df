import { randomBytes } from 'node:crypto';
import { type ProjectResult, projectSchema } from '../../contract/wire/project-result.ts';
import type { RouteName } from '../../contract/wire/routes.ts';
import { projectCacheMs } from '../../lambdas/store/projects.ts';
import { everyRoute } from '../fixtures/route-names.ts';
import { type CallOptions, type ProjectCredentials, useService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';
import { withinOneMinute } from '../fixtures/within-one-minute.ts';

const service = useService();

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
    'of %s refuses an address after the requests of its plan in a minute',
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
      const plan = { rateLimitPerMinute: 2, listNotificationsPerMinute: null, getUserPerMinute: 1 };
      const project = await service.createProject(plan);
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

  test('is 60 requests if the plan has none', async () => {
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

// The last test: the functions' clock is ahead then.
test.each([
  [98, 20, 80, 2],
  [40, 30, 9, 0],
])('of %i subscribers, cap lowered to %i, %i leave: %i may join after 30 s', async (...row) => {
  const [before, cap, leaving, joining] = row;
  const project = await service.createProject();
  const browsers = [];
  for (let count = 0; count < before; count += 1) browsers.push(await service.subscribe(project));
  await service.registry.setPlan(project.projectId, { subscriberCap: cap });
  service.stack.freeze(projectCacheMs, 'reset');
  for (const { endpoint } of browsers.slice(0, leaving)) {
    const query = `?endpoint=${encodeURIComponent(endpoint)}`;
    await callWithValidRequest(service, project, 'unsubscribe', { query });
  }
  const statuses: number[] = [];
  for (let count = 0; count < 12; count += 1) {
    statuses.push((await callWithValidRequest(service, project, 'subscribe')).status);
  }
  expect(statuses).toEqual([...Array(joining).fill(201), ...Array(12 - joining).fill(403)]);
  expect(await service.usage(project.projectId)).toMatchObject({
    subscribers: before - leaving + joining,
  });
});
