import { randomBytes, randomUUID } from 'node:crypto';
import { type ProjectRegistry, projectRegistry } from '../../admin/project-registry.ts';
import { projectTables } from '../../admin/project-tables.ts';
import { limits } from '../../contract/wire/limits.ts';
import { authenticate } from '../../lambdas/http/authenticate.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import { useDatabase } from '../fixtures/database.ts';

const database = useDatabase();
let now: Date;
let registry: ProjectRegistry;
let projectId: string;

beforeEach(async () => {
  now = new Date('2026-11-20T12:00:00Z');
  registry = projectRegistry(database.dynamo, projectTables(database.tables), () => now);
  projectId = `p-${randomUUID()}`;
  await registry.create({ projectId, random: randomBytes });
});

const invite = (name: string, lifetimeMs?: number) =>
  registry.invite(projectId, { name, role: 'sender', lifetimeMs, random: randomBytes });

test('members are listed without keys, the oldest first', async () => {
  await invite('Zoe');
  now = new Date('2026-11-20T12:00:01Z');
  const { expiresAt } = await invite('Ann.Lee #1', 1000);
  expect(expiresAt).toBe('2026-11-20T12:00:02.000Z');
  expect(await registry.members(projectId)).toEqual([
    { name: 'Zoe', role: 'sender', createdAt: '2026-11-20T12:00:00.000Z' },
    { name: 'Ann.Lee #1', role: 'sender', createdAt: '2026-11-20T12:00:01.000Z', expiresAt },
  ]);
});

test('a name is unique in its project, until its member is revoked', async () => {
  await invite('Ann');
  await expect(invite('Ann')).rejects.toMatchObject({ code: 'member_exists' });
  await registry.revoke(projectId, 'Ann');
  await invite('Ann');
});

test(`a project has at most ${limits.members} members, also if two are invited at once`, async () => {
  for (let made = 0; made < limits.members - 1; made += 1) await invite(`member ${made}`);
  const two = await Promise.allSettled([invite('Ann'), invite('Bob')]);
  expect(two.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(invite('Eve')).rejects.toMatchObject({ code: 'too_many_members' });
  expect(await registry.members(projectId)).toHaveLength(limits.members);
});

test('an unknown member or project cannot be revoked', async () => {
  for (const name of ['Ann', 'constructor']) {
    await expect(registry.revoke(projectId, name)).rejects.toMatchObject({
      code: 'member_not_found',
    });
  }
  const unknown = { code: 'project_not_found' };
  await expect(registry.revoke('no-such', 'Ann')).rejects.toMatchObject(unknown);
  await expect(registry.members('no-such')).rejects.toMatchObject(unknown);
  const member = { name: 'Ann', role: 'viewer', random: randomBytes } as const;
  await expect(registry.invite('no-such', member)).rejects.toMatchObject(unknown);
});

test('an invitation whose response was lost is repeated with the same key', async () => {
  const send = database.dynamo.send.bind(database.dynamo) as (command: unknown) => Promise<never>;
  const twice = jest.spyOn(database.dynamo, 'send').mockImplementation(async (command: unknown) => {
    await send(command);
    return send(command);
  });
  const { key } = await invite('Ann').finally(() => twice.mockRestore());
  expect(await roleWith(key)).toBe('sender');
});

/** A function of its own, which remembers the project. */
function newFunction() {
  const store = projectStore(database.dynamo, database.tables.PROJECTS_TABLE, () => now);
  const { before } = authenticate(store.find, () => now);
  return async (key: string) => {
    const event = { ids: { projectId }, headers: { authorization: `Bearer ${key}` } };
    await before!({ event } as never);
    return (event as { access?: { role: string } }).access?.role;
  };
}
const roleWith = (key: string) => newFunction()(key);

test('a revoked key is refused by all functions after 30 s', async () => {
  const { key } = await invite('Ann');
  const role = newFunction();
  expect(await role(key)).toBe('sender');
  await registry.revoke(projectId, 'Ann');
  expect(await roleWith(key)).toBeUndefined();
  now = new Date('2026-11-20T12:00:30Z');
  expect(await role(key)).toBeUndefined();
});

test('a key ends at its time, also in a function that remembers the project', async () => {
  const { key } = await invite('Ann', 1000);
  const role = newFunction();
  now = new Date('2026-11-20T12:00:00.999Z');
  expect(await role(key)).toBe('sender');
  now = new Date('2026-11-20T12:00:01Z');
  expect(await role(key)).toBeUndefined();
});
