import type { Context } from 'aws-lambda';
import { type Slice, sliceSchema } from '../../../contract/infrastructure/slice.ts';
import { type Database, startDatabase } from '../../fixtures/database.ts';
import { slicesOf } from '../store/stored-notifications.ts';
import { slice } from './delivery-setup.ts';

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

/** A slice of a new notification, as it arrives. */
async function event(change: Partial<Slice> = {}) {
  const { projectId, ref } = await database.createProject();
  made += 1;
  const notificationId = `01890a5d-ac96-774b-bcce-${String(made).padStart(12, '0')}`;
  // A century ahead: DynamoDB Local deletes expired items within seconds.
  const expiresAt = 5_000_000_000;
  const one = slice({ projectId, project: ref, notificationId, expiresAt, ...change });
  return sliceSchema.parse(JSON.parse(JSON.stringify(one)));
}

function invoke(input: unknown, remainingMs = 15 * 60_000) {
  return handler(input, { getRemainingTimeInMillis: () => remainingMs } as Context);
}

test('without enough time for a chunk it fails, so that Lambda repeats it', async () => {
  await expect(invoke(await event({ sentAt: Date.now() }), 30_000)).rejects.toThrow(
    'the next attempt continues',
  );
});

test('the slice of a project that was deleted is not delivered', async () => {
  const input = await event({ project: 'another' as Slice['project'] });
  await invoke(input);
  expect(await slicesOf(database).find(input.notificationId, [0])).toEqual([undefined]);
});

test.each<[string, object]>([
  ['a member that this code does not know', { sendAt: 1 }],
  ['a condition that this code does not know', { conditions: { country: 'de' } }],
  ['an invalid project id', { projectId: 'Demo!' }],
  ['no pace', { pushesPerSecond: 0 }],
  ['more event counters than one slice may have', { counters: 9 }],
])('an event with %s is refused', async (_, change) => {
  const input = await event();
  await expect(invoke({ ...input, ...change })).rejects.toThrow();
  expect(await slicesOf(database).find(input.notificationId, [0])).toEqual([undefined]);
});
