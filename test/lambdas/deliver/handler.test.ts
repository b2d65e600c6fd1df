import { readFileSync } from 'node:fs';
import type { Context } from 'aws-lambda';
import { noCounts } from '../../../contract/counts.ts';
import { type Share, shareSchema } from '../../../contract/share.ts';
import { type Database, startDatabase } from '../../fixtures/database.ts';
import { talliesOf } from '../store/stored-notifications.ts';
import { share } from './recorded-share-dependencies.ts';

let database: Database;
let handler: typeof import('../../../lambdas/deliver/handler.ts').handler;

beforeAll(async () => {
  database = await startDatabase();
  Object.assign(process.env, database.tables, {
    AWS_ENDPOINT_URL_DYNAMODB: database.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    POWERTOOLS_METRICS_DISABLED: 'true',
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    VAPID_SUBJECT: 'mailto:ops@example.com',
    EXTRA_PUSH_ORIGINS: '',
    PREFER_IPV6: 'false',
  });
  // The function reads its environment when it starts.
  ({ handler } = await import('../../../lambdas/deliver/handler.ts'));
});
afterAll(() => database.stop());

let made = 0;

/** A share of a new notification, as it arrives. */
function event(projectId: string, change: Partial<Share> = {}) {
  made += 1;
  const notificationId = `01890a5d-ac96-774b-bcce-${String(made).padStart(12, '0')}`;
  // A century ahead: DynamoDB Local deletes expired items within seconds.
  const expiresAt = 5_000_000_000;
  const one = share({ projectId, notificationId, expiresAt, deadline: undefined, ...change });
  return shareSchema.parse(JSON.parse(JSON.stringify(one)));
}

function invoke(input: unknown, remainingMs = 15 * 60_000) {
  return handler(input, { getRemainingTimeInMillis: () => remainingMs } as Context);
}

test('a share is delivered, and its result returned', async () => {
  const input = event(await database.createProject());
  expect(await invoke(input)).toEqual({ result: { ...noCounts, isComplete: true } });
  expect(await talliesOf(database).find(input.notificationId, [0])).toMatchObject([
    { ended: 'complete' },
  ]);
});

const released = JSON.parse(readFileSync('releases/shares.json', 'utf8')) as Record<string, Share>;

test.each(Object.entries(released))(
  'a share that the last release left in the queue is delivered: %s',
  async (_, {
    projectId: _project,
    notificationId: _id,
    expiresAt: _expiry,
    deadline,
    ...rest
  }) => {
    const { projectId, notificationId, expiresAt } = event(await database.createProject());
    const soon = deadline && { lastPushAt: Date.now() + 22_000, endAt: Date.now() + 25_000 };
    const input = { ...rest, projectId, notificationId, expiresAt, deadline: soon };
    expect(await invoke(input)).toEqual({ result: { ...noCounts, isComplete: true } });
  },
);

test('a share that is invoked twice is delivered once', async () => {
  const input = event(await database.createProject());
  await invoke(input);
  const before = await talliesOf(database).find(input.notificationId, [0]);
  expect(await invoke(input)).toEqual({ result: { ...noCounts, isComplete: true } });
  expect(await talliesOf(database).find(input.notificationId, [0])).toEqual(before);
});

test('a share that another invocation has gives no result to a caller who waits', async () => {
  const deadline = { lastPushAt: Date.now() + 10_000, endAt: Date.now() + 12_000 };
  const input = event(await database.createProject(), { deadline });
  const claim = { until: Date.now() + 60_000, position: 1, pending: 1, ended: undefined };
  const other = { by: 'other', step: 1 };
  await talliesOf(database).save(input, other, { ...claim, counts: noCounts });
  expect(await invoke(input)).toEqual({});
});

test('an asynchronous share that another invocation has stays in the queue of Lambda', async () => {
  const input = event(await database.createProject());
  // Longer than this function may run.
  const claim = { until: Date.now() + 20 * 60_000, position: 1, pending: 1, ended: undefined };
  await talliesOf(database).save(input, { by: 'other', step: 1 }, { ...claim, counts: noCounts });
  await expect(invoke(input)).rejects.toThrow('Lambda repeats this one');
});

test('the share of a project that was deleted and created again has nothing to deliver', async () => {
  const projectCreatedAt = '2026-10-01T00:00:00.000Z';
  const input = event(await database.createProject(), { projectCreatedAt });
  expect(await invoke(input)).toEqual({});
  expect(await talliesOf(database).find(input.notificationId, [0])).toEqual([undefined]);
});

test('without enough time for a chunk it fails, so that Lambda repeats it', async () => {
  const input = event(await database.createProject());
  await expect(invoke(input, 40_000)).rejects.toThrow('the next attempt continues');
});

test('the share of a project that was deleted has nothing to deliver', async () => {
  const input = event('no-such-project');
  expect(await invoke(input)).toEqual({});
  expect(await talliesOf(database).find(input.notificationId, [0])).toEqual([undefined]);
});

test.each([
  ['nothing', {}],
  ['an invalid project id', { ...event('demo'), projectId: 'Demo!' }],
  ['no pace', { ...event('demo'), pushesPerSecond: 0 }],
  ['a deadline without an end', { ...event('demo'), deadline: { lastPushAt: 1 } }],
])('an event with %s is refused', async (_, input) => {
  await expect(invoke(input)).rejects.toThrow();
});
