import type { Plan } from '../../contract/project.ts';
import { routes } from '../../contract/routes.ts';
import { type ProjectResult, projectSchema } from '../../contract/schemas/project.ts';
import { utcMonth } from '../../lambdas/store/calendar.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function read({ projectId, secretKey }: ProjectCredentials) {
  const { status, body } = await service.call<ProjectResult>(routes.getProject, {
    parameters: { projectId },
    headers: { authorization: `Bearer ${secretKey}` },
  });
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
    createdAt: found.createdAt,
  });
  expect([before, utcMonth(new Date())]).toContain(found.month);
  expect(Date.now() - Date.parse(found.createdAt)).toBeLessThan(10 * 60_000);
});

test.each<[string, Plan, number | null, number | null]>([
  ['of the deployment where the plan has none', {}, 1000, 10_000],
  ['null where there is no cap', { subscriberCap: null, monthlySendCap: null }, null, null],
])('the caps are %s', async (_, plan, subscriberCap, monthlySendCap) => {
  expect(await read(await service.createProject(plan))).toMatchObject({
    subscriberCap,
    monthlySendCap,
  });
});

test('a project that counts in parts has the sum of its counters', async () => {
  const project = await service.createProject({ subscriberCap: null });
  for (let browser = 0; browser < 10; browser += 1) await service.subscribe(project);
  expect(await read(project)).toMatchObject({ subscribers: 10, sentThisMonth: 0 });
});
