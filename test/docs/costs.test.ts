import { readFileSync } from 'node:fs';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { projectTables } from '../../admin/project-tables.ts';
import type { ItemSizes } from '../../bench/costs/capacity.ts';
import { costs } from '../../bench/costs/cost-model.ts';
import { costTable, siteTable } from '../../bench/costs/cost-table.ts';
import { itemBytes } from '../../bench/costs/item-bytes.ts';
import { sites } from '../../bench/costs/sites.ts';
import { pushMessage } from '../../contract/message.ts';
import { pathOf, routes } from '../../contract/routes.ts';
import type { NotificationContent } from '../../contract/schemas/notification.ts';
import { eventCounter, eventCounterStore } from '../../lambdas/store/event-counters.ts';
import { expiryOf } from '../../lambdas/store/notifications.ts';
import { rateLimitStore } from '../../lambdas/store/rate-limits.ts';
import { sendStore } from '../../lambdas/store/sends.ts';
import { sliceStore } from '../../lambdas/store/slices.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { readSettings } from '../../lib/settings.ts';
import { readAssembly, resourcesOf } from '../../local/template/template.ts';
import { sharedAssembly } from '../fixtures/assembly.ts';
import { type Database, startDatabase } from '../fixtures/database.ts';
import { endpoint, subscription } from '../fixtures/subscription.ts';
import { templateAlarms } from '../fixtures/template-alarms.ts';

const sentAt = new Date('2026-11-20T12:34:56.789Z');
const notificationId = '019aa1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const content: NotificationContent = {
  title: 'Doors open at eight',
  body: 'The second half of the tickets is on sale now, at the box office and on our site.',
  url: 'https://www.example.com/events/2026/carillon-night',
  icon: 'https://www.example.com/icons/carillon-192.png',
};

/** Lets the stores write one realistic item of each kind, and measures them. */
async function measureItems(database: Database): Promise<ItemSizes> {
  const { dynamo } = database;
  const tables = projectTables(database.tables);
  const clock = () => sentAt;
  const { projectId, ref } = await database.createProject();

  await subscriptionStore(dynamo, tables, clock).save(
    ref,
    subscription({
      // As long as an endpoint of FCM.
      endpoint: endpoint(`https://fcm.googleapis.com/fcm/send/${'x'.repeat(152)}`),
      userId: 'b5f0c1f2-7a55-4f5e-9d3a-2f6d1c8e4a10',
    }),
    null,
  );
  const division = {
    ...{ subscribers: 54_321, conditions: {}, slices: 2, countersPerSlice: 3 },
    respondedAsync: false,
  };
  const notification = { project: ref, id: notificationId, content, division, sentAt };
  await sendStore(dynamo, tables).begin(notification, notificationId, undefined, null);
  const counts = {
    ...{ attempted: 27_160, delivered: 26_431, removed: 271, failed: 458, unreached: 0 },
    failures: { no_response: 12, throttled: 446 },
  };
  const expiresAt = expiryOf(sentAt);
  await sliceStore(dynamo, tables.deliveries).write(
    { notificationId, slice: 0, expiresAt },
    {
      event: {
        kind: 'write',
        id: { by: notificationId, n: 1 },
        ...{ known: undefined, knowsStop: false },
      },
      ...{ position: 2 ** 31 - 1, isRead: true, pending: 0, counts, ended: 'delivered' },
      until: sentAt.getTime(),
    },
  );
  const counters = eventCounterStore(dynamo, tables.deliveries);
  await counters.open(eventCounter(ref, notificationId, 0, expiresAt));
  for (const type of ['shown', 'clicked'] as const) {
    await counters.count(ref, notificationId, 0, type);
  }
  await rateLimitStore(dynamo, database.tables.RATE_LIMITS_TABLE, clock).count(
    { projectId, route: 'track', address: '203.0.113.195' },
    60,
  );

  const byTable = { ...tables, rateLimits: database.tables.RATE_LIMITS_TABLE };
  const sizes: Record<string, number> = {};
  for (const [name, TableName] of Object.entries(byTable)) {
    const { Items = [] } = await dynamo.send(new ScanCommand({ TableName }));
    const table = name.charAt(0).toUpperCase() + name.slice(1);
    sizes[table] = Math.max(...Items.map(itemBytes));
    if (table === 'Subscriptions') {
      const { createdAt, ...inIndex } = Items[0]!;
      sizes['Subscriptions/byUser'] = itemBytes(inIndex);
    }
  }
  return sizes;
}

test('the costs in docs/performance.md are those that follow from prices, calls and item sizes', async () => {
  const database = await startDatabase();
  try {
    const { template } = readAssembly(sharedAssembly());
    const memoryOf = (name: string) => {
      const [, fn] = resourcesOf(template, 'AWS::Lambda::Function').find(([id]) =>
        id.startsWith(name),
      )!;
      return (fn.Properties as { readonly MemorySize: number }).MemorySize;
    };
    const parameters = { projectId: 'bells', notificationId };
    const eventsUrl = `https://abcdefghij.execute-api.us-east-1.amazonaws.com${pathOf(routes.track, parameters)}`;
    const message = pushMessage(notificationId, content, `${eventsUrl}?tally=3`, 20);
    const inputs = {
      itemBytes: await measureItems(database),
      messageBytes: Buffer.byteLength(JSON.stringify(message)),
      memory: { small: memoryOf('Subscribe'), track: memoryOf('Track'), send: memoryOf('Send') },
      alarmMetrics: templateAlarms(template).flatMap(({ metrics }) => metrics).length,
      pushesPerSecond: readSettings({ stage: 'dev' }).pushesPerSecond,
    };
    const [, section = ''] = readFileSync('docs/performance.md', 'utf8').split('\n## Costs\n');
    expect(section.match(/^\|.*?\n(?=\n)/gms)).toEqual([
      costTable(costs(inputs)),
      siteTable(sites(inputs)),
    ]);
  } finally {
    await database.stop();
  }
});
