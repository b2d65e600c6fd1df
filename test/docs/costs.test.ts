import { readFileSync } from 'node:fs';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { projectTables } from '../../admin/project-tables.ts';
import type { ItemSizes } from '../../bench/costs/capacity.ts';
import { type Cost, costs } from '../../bench/costs/cost-model.ts';
import { costTable, siteTable } from '../../bench/costs/cost-table.ts';
import { itemBytes } from '../../bench/costs/item-bytes.ts';
import { sites } from '../../bench/costs/sites.ts';
import { pushMessage } from '../../contract/message.ts';
import { quotasSchema } from '../../contract/quotas.ts';
import { pathOf, routes } from '../../contract/routes.ts';
import type { NotificationContent } from '../../contract/schemas/notification.ts';
import { rateLimitStore } from '../../lambdas/store/rate-limits.ts';
import { expiryOf } from '../../lambdas/store/send-writes.ts';
import { sendStore } from '../../lambdas/store/sends.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { tallyStore } from '../../lambdas/store/tallies.ts';
import { readSettings } from '../../lib/settings.ts';
import { readAssembly, resourcesOf } from '../../local/template/template.ts';
import { sharedAssembly } from '../fixtures/assembly.ts';
import { type Database, projectCreatedAt, startDatabase } from '../fixtures/database.ts';
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
  const projectId = await database.createProject();
  const key = {
    projectId,
    notificationId,
    firstTally: 0,
    expiresAt: expiryOf(sentAt),
  };

  await subscriptionStore(dynamo, tables, clock).save(
    projectId,
    subscription({
      // As long as an endpoint of FCM.
      endpoint: endpoint(`https://fcm.googleapis.com/fcm/send/${'x'.repeat(152)}`),
      userId: 'b5f0c1f2-7a55-4f5e-9d3a-2f6d1c8e4a10',
    }),
    null,
  );
  const division = { subscribers: 54_321, shares: 2, talliesPerShare: 3, respondedAsync: false };
  await sendStore(dynamo, tables).begin(
    { projectId, projectCreatedAt, id: notificationId, content, division, sentAt },
    null,
  );
  const tallies = tallyStore(dynamo, tables.tallies);
  const counts = {
    ...{ attempted: 27_160, delivered: 26_431, removed: 271, failed: 458, unreached: 0 },
    failures: { no_response: 12, throttled: 446 },
  };
  const [position, until] = [2 ** 31 - 1, sentAt.getTime()];
  const progress = { until, position, pending: 0, counts, ended: 'complete' } as const;
  await tallies.save(key, { by: notificationId, step: 1 }, progress);
  await tallies.count(projectId, notificationId, 0, 'shown');
  await tallies.count(projectId, notificationId, 0, 'clicked');
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

const totalOf = ({ api, lambda, dynamodb, logs, transfer }: Cost) =>
  api + lambda + dynamodb + logs + transfer;

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

    // An hour at all throttles. Requests of other routes cost less than events, which write twice.
    const { Outputs } = template as unknown as { Outputs: { Quotas: { Value: string } } };
    const { requestsPerSecond } = quotasSchema.parse(JSON.parse(Outputs.Quotas.Value));
    const { eventsPerSecond } = readSettings({ stage: 'dev' });
    const dollars = (what: string) => totalOf(costs(inputs).find((row) => row.what === what)!);
    const hourOf = (perSecond: number) => perSecond * 3600;
    const perEvent = dollars('a million events') / 1e6;
    const subscriptionsPerSecond = 500;
    const events = hourOf(eventsPerSecond) * perEvent;
    const subscriptions =
      (hourOf(subscriptionsPerSecond) * dollars('a thousand new subscriptions')) / 1000;
    const others =
      hourOf(requestsPerSecond - eventsPerSecond - 2 * subscriptionsPerSecond) * perEvent;
    const runbook = readFileSync('docs/runbook.md', 'utf8').replace(/\s+/g, ' ');
    const [, most = ''] = /They cost at most (\d+) dollars/.exec(runbook) ?? [];
    expect(runbook).toContain(`let through ${requestsPerSecond.toLocaleString('en')} requests`);
    expect(runbook).toContain(
      `$${Math.round(events)} for 18 million events, $${Math.round(subscriptions)} for 2 million subscriptions with their preflights, $${Math.round(others)} for the others`,
    );
    expect(Number(most)).toBeGreaterThan(events + subscriptions + others);
  } finally {
    await database.stop();
  }
});
