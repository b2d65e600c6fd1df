import { randomBytes, randomUUID } from 'node:crypto';
import { projectTables } from '../../../admin/project-tables.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { keyed } from '../../fixtures/known-project.ts';
import { useOperator } from '../../fixtures/operator.ts';
import { endpoint, subscription } from '../../fixtures/subscription.ts';

const operator = useOperator();
let projectId: string;
let ref: ProjectRef;

beforeEach(async () => {
  projectId = `p-${randomUUID()}`;
  const { project } = await operator.registry.create({ projectId, random: randomBytes });
  ref = project.ref;
});

const savedAt = new Date('2026-11-20T12:00:00Z');

async function subscribe(
  userId: string,
  url?: string,
  now = savedAt,
  channels: string[] | undefined = undefined,
) {
  const tables = projectTables(operator.database.tables);
  const saved = subscription({ userId, channels, ...(url && { endpoint: endpoint(url) }) });
  await subscriptionStore(operator.database.dynamo, tables, () => now).save(
    keyed(ref),
    saved,
    null,
  );
  return saved;
}

const subscribers = async () => (await operator.registry.usage(projectId)).subscribers;

describe('users export', () => {
  it('prints everything that is stored under the user id as JSON', async () => {
    const url = 'https://updates.push.services.mozilla.com/wpush/v2/of-ada';
    const { keys } = await subscribe('ada', url);
    await subscribe('ada', url, new Date('2026-11-21T12:00:00Z'), ['news']);
    await subscribe('bob');
    const { vapidPublicKey: applicationServerKey } = (await operator.registry.find(projectId))!;
    await operator.registry.rotateVapid(projectId);
    const exported = await operator.runJson(['users', 'export', projectId, 'ada']);
    expect(exported).toEqual({
      projectId,
      userId: 'ada',
      subscriptions: [
        {
          endpoint: url,
          keys: {
            p256dh: Buffer.from(keys.p256dh).toString('base64url'),
            auth: Buffer.from(keys.auth).toString('base64url'),
          },
          applicationServerKey,
          channels: ['news'],
          createdAt: '2026-11-20T12:00:00.000Z',
          updatedAt: '2026-11-21T12:00:00.000Z',
        },
      ],
      elsewhere: expect.any(Array),
    });
    const ofNobody = await operator.runJson(['users', 'export', projectId, 'nobody']);
    expect(ofNobody).toMatchObject({ userId: 'nobody', subscriptions: [] });
    const places = exported.elsewhere.map(({ where }: { where: string }) => where);
    expect(places).toEqual(['Notifications', 'RateLimits', 'logs', 'backups']);
  });

  it('prints all of many subscriptions', async () => {
    for (let made = 0; made < 101; made += 1) await subscribe('ada');
    const { subscriptions } = await operator.runJson(['users', 'export', projectId, 'ada']);
    expect(subscriptions).toHaveLength(101);
  });

  it('prints endpoints and times as text, without keys', async () => {
    const { keys } = await subscribe('ada\u202e/x');
    const { output } = await operator.runLocal(['users', 'export', projectId, 'ada\u202e/x']);
    expect(output).toContain(`Stored subscriptions of "ada\\u202e/x" in "${projectId}": 1\n`);
    expect(output).toMatch(/https:\S+ +2026-11-20 12:00 UTC +2026-11-20 12:00 UTC\n/);
    expect(output).toContain('  backups: subscriptions of the last 35 days');
    expect(output).not.toContain(Buffer.from(keys.auth).toString('base64url'));
  });
});

describe('users delete', () => {
  it('deletes the subscriptions of the user and their counts with --yes', async () => {
    for (const userId of ['ada', 'ada', 'bob']) await subscribe(userId);
    const args = ['users', 'delete', projectId, 'ada', '--yes'];
    expect(await operator.runJson(args)).toEqual({ projectId, userId: 'ada', removed: 2 });
    expect(await operator.runJson(args)).toEqual({ projectId, userId: 'ada', removed: 0 });
    expect(await subscribers()).toBe(1);
  });

  it('takes a user id that starts with a hyphen after --', async () => {
    await subscribe('-ada');
    const args = ['users', 'delete', '--yes', '--local', projectId, '--', '-ada'];
    const { output } = await operator.run(args);
    expect(output).toBe(`Deleted subscriptions of "-ada" in "${projectId}": 1\n`);
  });

  it('deletes after the operator types the user id, and nothing otherwise', async () => {
    await subscribe('ada');
    const args = ['users', 'delete', projectId, 'ada'];
    const refused = await operator.runLocal(args, { typed: 'yes\n' });
    expect(refused).toMatchObject({ code: 1, output: '' });
    expect(refused.messages).toContain(
      `This permanently deletes subscriptions of "ada" in "${projectId}": 1`,
    );
    expect(await subscribers()).toBe(1);
    expect(await operator.runLocal(args, { typed: 'ada\n' })).toMatchObject({ code: 0 });
    expect(await subscribers()).toBe(0);
  });
});
