import type { Plan } from '../../contract/wire/project.ts';
import { type ProjectResult, projectSchema } from '../../contract/wire/project-result.ts';
import { utcMonth } from '../../lambdas/store/counters.ts';
import { type ProjectCredentials, useService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

const service = useService();

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

test.each<[string, Plan, number | null, number | null]>([
  ['of the deployment where the plan has none', {}, 100_000, 10_000],
  ['null where there is no cap', { subscriberCap: null, monthlySendCap: null }, null, null],
])('the caps are %s', async (_, plan, subscriberCap, monthlySendCap) => {
  expect(await read(await service.createProject(plan))).toMatchObject({
    subscriberCap,
    monthlySendCap,
  });
});

test('a sample counts the subscribers by when they were seen, and by channel', async () => {
  const project = await service.createProject({ subscriberCap: null });
  for (let index = 0; index < 20; index += 1) {
    const channels = index < 5 ? ['news', 'sales'] : index < 8 ? ['news'] : [];
    await service.subscribe(project, undefined, channels);
  }
  const { sample } = await read(project, '?sample=subscribers');
  expect(sample).toEqual({
    subscribers: 20,
    seenWithinDays: { 7: 20, 30: 20, 90: 20, 365: 20 },
    channels: { news: 8, sales: 5 },
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
