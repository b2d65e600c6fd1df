import { createHash } from 'node:crypto';
import { readTable } from '../fixtures/read-table.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();

const bytesAsHex = (_: string, value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;

test('only the hash of a secret key is stored, and each other secret in one table', async () => {
  const userId = 'a-secret-user-id-in-this-test';
  const title = 'a-secret-title-in-this-test';
  const project = await service.createProject();
  await service.subscribe(project, userId);
  await service.send(project, { title });
  const { tables } = service.stack.dynamodb;
  const texts = new Map<string, string>();
  for (const [variable, table] of Object.entries(tables)) {
    texts.set(variable, JSON.stringify(await readTable(service.dynamo, table), bytesAsHex));
  }
  const tablesWith = (secret: string) =>
    [...texts].filter(([, text]) => text.includes(secret)).map(([variable]) => variable);

  expect(tablesWith('carillon_sk_')).toEqual([]);
  const hash = createHash('sha256').update(project.secretKey).digest('hex');
  expect(tablesWith(hash)).toEqual(['PROJECTS_TABLE']);
  expect(tablesWith(project.identityKey)).toEqual(['IDENTITY_KEYS_TABLE']);
  const vapidKeys = await readTable(service.dynamo, tables.VAPID_KEYS_TABLE);
  expect(vapidKeys).not.toHaveLength(0);
  for (const { privateKey } of vapidKeys) {
    expect(tablesWith(privateKey as string)).toEqual(['VAPID_KEYS_TABLE']);
  }
  expect(tablesWith(Buffer.from(project.internalKey).toString('hex'))).toEqual(['PROJECTS_TABLE']);
  expect(tablesWith(service.stack.pushService.origin)).toEqual(['SUBSCRIPTIONS_TABLE']);
  expect(tablesWith(userId)).toEqual(['SUBSCRIPTIONS_TABLE']);
  expect(tablesWith(title)).toEqual(['NOTIFICATIONS_TABLE']);
});

test('what is stored of a request with an Idempotency-Key cannot be found by guessing the key', async () => {
  const key = 'order-1042';
  const send = { title: 'T', userIds: ['ada'] };
  const projects = [await service.createProject(), await service.createProject()];
  for (const project of projects) await service.send(project, send, { 'idempotency-key': key });
  const { NOTIFICATIONS_TABLE } = service.stack.dynamodb.tables;
  const items = await readTable(service.dynamo, NOTIFICATIONS_TABLE);
  const keyed = items.filter((item) => item.requestHash !== undefined);
  expect(keyed).toHaveLength(2);
  const hashes = keyed.flatMap((item) => [item.requestHash, String(item.notificationId).slice(4)]);
  // Of the same key and request, two projects store nothing that is the same.
  expect(new Set(hashes).size).toBe(4);
});
