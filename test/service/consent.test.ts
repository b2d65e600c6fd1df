import type { ErrorBody } from '../../contract/wire/errors.ts';
import { routes } from '../../contract/wire/routes.ts';
import { deviceIdOf } from '../../lambdas/store/items.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import type { ProjectCredentials, Service } from '../fixtures/service.ts';
import { type ServiceOperator, startServiceOperator } from '../fixtures/service-operator.ts';

let operator: ServiceOperator;
let service: Service;

beforeAll(async () => {
  operator = await startServiceOperator();
  ({ service } = operator);
});
afterAll(() => operator.stop());

interface Exported {
  readonly endpoint: string;
  readonly consent?: string;
  readonly locale?: string;
  readonly firstAt: string;
  readonly createdAt: string;
}

/** A project with one browser, and its successors. */
async function startBrowser(cap?: number) {
  const project = await service.createProject({ subscriberCap: cap ?? null });
  const { projectId } = project;
  const newBrowser = () => service.stack.pushService.subscribe(project);
  const register = async (browser: SimulatedBrowser, stated: object = {}) => {
    const body = { ...browser.toJSON(), ...stated };
    const request = { parameters: { projectId }, body };
    return (await service.call<ErrorBody>(routes.subscribe, request)).status;
  };
  return { project, newBrowser, register, exported: () => exportOf(project) };
}

async function exportOf({ projectId }: ProjectCredentials): Promise<readonly Exported[]> {
  const { output } = await operator.run(['subscriptions', 'export', projectId]);
  return output
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

test.each([
  ['of at most 64 characters is stored', 'v'.repeat(64), 201],
  ['with more is refused', 'v'.repeat(65), 400],
  ['without any is refused', '', 400],
  ['that is a number is refused', 3, 400],
])('a consent %s', async (_, consent, status) => {
  const { newBrowser, register, exported } = await startBrowser();
  expect(await register(newBrowser(), { consent })).toBe(status);
  expect((await exported()).map((one) => one.consent)).toEqual(status === 201 ? [consent] : []);
});

test('a subscription keeps its consent, but for one that its visitor gives', async () => {
  const { newBrowser, register, exported } = await startBrowser();
  const browser = newBrowser();
  const consents = [];
  for (const stated of [
    { consent: 'v1' },
    {},
    { renewal: true, consent: 'v2' },
    { consent: 'v3', userId: 'ada' },
    { renewal: true, userId: 'ada' },
    // No request sets it.
    { firstAt: '2020-01-01T00:00:00.000Z' },
  ]) {
    expect(await register(browser, stated)).toBe(201);
    const { consent, firstAt, createdAt } = (await exported())[0]!;
    expect(firstAt).toBe(createdAt);
    consents.push(consent);
  }
  expect(consents).toEqual(['v1', 'v1', 'v1', 'v3', 'v3', 'v3']);
});

test.each([
  ['a renewal', { renewal: true, consent: 'v9' }, 'v3'],
  ['a visitor who says nothing', {}, 'v3'],
  ['a visitor who agrees to another text', { consent: 'v4' }, 'v4'],
])(
  '%s hands consent and first registration on to the next endpoint, and both to the one after',
  async (_, stated, expected) => {
    // There is room for one only.
    const { project, newBrowser, register, exported } = await startBrowser(1);
    const [first, second, third] = [newBrowser(), newBrowser(), newBrowser()];
    await register(first, { consent: 'v3', locale: 'de', userId: 'ada', channels: ['news'] });
    const { firstAt } = (await exported())[0]!;
    expect(await register(second, { ...stated, replaces: first.endpoint })).toBe(201);
    expect(await exported()).toEqual([
      expect.objectContaining({
        endpoint: second.endpoint,
        consent: expected,
        locale: 'de',
        firstAt,
      }),
    ]);
    const { createdAt, ...others } = (await exported())[0]!;
    expect(createdAt > firstAt).toBe(true);
    // Whoever knows an endpoint gets no user and no channels by it.
    expect(Object.keys(others).filter((name) => /userId|channels/.test(name))).toEqual([]);
    expect((await service.usage(project.projectId)).subscribers).toBe(1);

    expect(await register(third, { renewal: true, replaces: second.endpoint })).toBe(201);
    expect(await exported()).toEqual([
      expect.objectContaining({ endpoint: third.endpoint, consent: expected, firstAt }),
    ]);
    expect((await service.usage(project.projectId)).subscribers).toBe(1);
    const read = ['users', 'export', '--device', deviceIdOf(third.endpoint), '--project'];
    const { output } = await operator.run([...read, project.projectId, '--json']);
    expect(JSON.parse(output).subscriptions).toEqual([
      expect.objectContaining({ consent: expected, firstAt }),
    ]);
  },
);

test('a renewal whose earlier endpoint is gone has what the browser remembers, and a new date', async () => {
  const { newBrowser, register, exported } = await startBrowser();
  const [gone, next] = [newBrowser(), newBrowser()];
  const renewal = { renewal: true, replaces: gone.endpoint, consent: 'v3' };
  expect(await register(next, renewal)).toBe(201);
  const { consent, firstAt, createdAt } = (await exported())[0]!;
  expect([consent, firstAt]).toEqual(['v3', createdAt]);
});

test('a known endpoint takes nobody’s place', async () => {
  const { newBrowser, register, exported } = await startBrowser();
  const [one, other] = [newBrowser(), newBrowser()];
  await register(one, { consent: 'v3' });
  await register(other);
  expect(await register(other, { replaces: one.endpoint })).toBe(201);
  expect(await exported()).toHaveLength(2);
});

test('a list has both, and an import keeps them', async () => {
  const { project, newBrowser, register, exported } = await startBrowser();
  const [first, second] = [newBrowser(), newBrowser()];
  await register(first, { consent: 'v3' });
  await register(second, { replaces: first.endpoint });
  const list = `${operator.folder.path}/${project.projectId}.ndjson`;
  await operator.run(['subscriptions', 'export', project.projectId, list]);
  const before = await exported();
  expect(
    (
      await operator.run([
        'users',
        'delete',
        '--endpoint',
        second.endpoint,
        '--project',
        project.projectId,
        '--yes',
      ])
    ).code,
  ).toBe(0);
  // The visitor comes back, and leaves.
  await register(second);
  const parameters = { projectId: project.projectId };
  const query = `?endpoint=${encodeURIComponent(second.endpoint)}`;
  await service.call(routes.unsubscribe, { parameters, query });
  expect(await exported()).toEqual([]);
  expect((await operator.run(['subscriptions', 'import', project.projectId, list])).code).toBe(0);
  expect(await exported()).toMatchObject(
    before.map(({ consent, firstAt }) => ({ consent, firstAt })),
  );
});
