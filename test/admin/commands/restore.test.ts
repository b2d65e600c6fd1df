import { randomBytes } from 'node:crypto';
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
} from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { projectTables } from '../../../admin/project-tables.ts';
import { checkRestoredTables } from '../../../admin/restored-tables.ts';
import type { RestoredTables } from '../../../contract/infrastructure/tables.ts';
import { clientWith } from '../../fixtures/client-with.ts';
import { importValues } from '../../fixtures/moved-subscriptions.ts';
import { type RunOptions, useOperator } from '../../fixtures/operator.ts';
import { readTable } from '../../fixtures/read-table.ts';
import { subscriptionJson } from '../../fixtures/subscription-lines.ts';

const operator = useOperator();

beforeAll(async () => {
  await operator.registry.create({ projectId: 'shop', random: randomBytes });
  const ann = { name: 'Ann', role: 'sender', random: randomBytes } as const;
  await operator.registry.invite('shop', ann);
  await importValues(operator, 'shop', [subscriptionJson(), subscriptionJson()]);
  const tables = projectTables(operator.database.tables);
  for (const [name] of restoredTables) await restoreTable(tables[name]);
  await operator.registry.remove('shop');
});

/** The tables that a restore reads, and the options that name them. */
const restoredTables = [
  ['projects', '--projects'],
  ['vapidKeys', '--vapid-keys'],
  ['identityKeys', '--identity-keys'],
  ['subscriptions', '--subscriptions'],
  ['usage', '--usage'],
] as const;

const restored = (table: string) => `Backup-${table}`;

/** Copies a table, as AWS does from a backup. */
async function restoreTable(name: string): Promise<void> {
  const { dynamo } = operator.database;
  const { Table } = await dynamo.send(new DescribeTableCommand({ TableName: name }));
  const { KeySchema, AttributeDefinitions = [] } = Table!;
  const keys = KeySchema!.map(({ AttributeName }) => AttributeName);
  await dynamo.send(
    new CreateTableCommand({
      TableName: restored(name),
      KeySchema,
      AttributeDefinitions: AttributeDefinitions.filter(({ AttributeName }) =>
        keys.includes(AttributeName),
      ),
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
  for (const Item of await readTable(dynamo, name)) {
    await dynamo.send(new PutCommand({ TableName: restored(name), Item }));
  }
}

function restore(
  changes: Partial<RestoredTables> = {},
  options: readonly string[] = [],
  runOptions: RunOptions = {},
) {
  const tables = projectTables(operator.database.tables);
  const named = restoredTables.flatMap(([name, option]) => [
    option,
    changes[name] ?? restored(tables[name]),
  ]);
  return operator.runLocal(['restore', ...named, ...options], runOptions);
}

test('Projects, VapidKeys and IdentityKeys in the place of each other are refused', async () => {
  const { projects, vapidKeys, identityKeys } = projectTables(operator.database.tables);
  const exchanged = { projects: restored(vapidKeys), vapidKeys: restored(projects) };
  const keys = { identityKeys: restored(vapidKeys), vapidKeys: restored(identityKeys) };
  const twice = { vapidKeys: restored(projects) };
  for (const changes of [exchanged, keys, twice]) {
    const { code, messages } = await restore(changes);
    expect(code).toBe(1);
    expect(messages).toMatch(
      / are not the restored tables Projects, VapidKeys and IdentityKeys\. Were they exchanged\?\n$/,
    );
  }
  expect(await readTable(operator.database.dynamo, vapidKeys)).toEqual([]);
});

test('a dry run changes nothing, and says what the restore then does', async () => {
  const done =
    'shop: project created, 2 subscriptions added, 0 updated, 0 unchanged\n' +
    '  Valid as in the backup, also if ended since: secret key, member key of Ann (sender), identity key\n';
  const dry = await restore({}, ['--dry-run']);
  expect(dry).toMatchObject({
    code: 0,
    output: `${done}This was a dry run: nothing was changed.\n`,
  });
  expect(await operator.registry.find('shop')).toBeUndefined();
  const { code, output } = await restore({}, ['--keep-keys']);
  expect({ code, output }).toEqual({
    code: 0,
    output:
      `${done}  Subscribed as in the backup: also who has unsubscribed since.\n` +
      `  It is paused, so that no ended key sends. Next, as far as it applies:\n\n${[
        'rotate shop secret --revoke',
        "revoke shop 'Ann'",
        'rotate shop identity --grace 0',
        'resume shop',
      ]
        .map((call) => `    npm run -s carillon -- ${call} --local\n`)
        .join('')}\n`,
  });
  expect(await operator.registry.usage('shop')).toMatchObject({ subscribers: 2 });
  expect((await restore({}, ['--dry-run'])).output).toContain(
    'project exists, 0 subscriptions added, 0 updated, 0 unchanged',
  );
  const json = async (...options: readonly string[]) =>
    JSON.parse((await restore({}, ['--json', '--add-subscriptions', '--yes', ...options])).output);
  const exists = { projectId: 'shop', project: 'exists', unchanged: 2 };
  expect(await json('--dry-run')).toMatchObject([{ ...exists, dryRun: true }]);
  expect((await json())[0]).not.toHaveProperty('dryRun');
});

describe('of a missing project', () => {
  beforeEach(async () => {
    if (await operator.registry.find('shop')) await operator.registry.remove('shop');
  });

  const missing = 'Missing, and to be created as of the backup, whose time AWS does not say: shop.';

  test('the operator is asked for its keys', async () => {
    const { messages, output } = await restore({}, [], { typed: 'new\n' });
    expect(messages).toContain(missing);
    expect(messages).toContain('also those that were replaced or revoked since');
    expect(messages).toContain('Members then: Ann (shop).\n');
    expect(output).toMatch(/^ {2}Its secret key, printed only once: \S*carillon_sk_/m);
    const other = await restore({}, ['--yes'], { typed: 'yes\n' });
    expect(other).toMatchObject({ code: 0, output: expect.stringContaining('project exists') });
  });

  test('without a terminal, the call says which keys, and nothing is restored before', async () => {
    const { code, messages } = await restore();
    expect(code).toBe(1);
    expect(messages).toMatch(/Use --keep-keys or --new-keys\.\n$/);
    const { messages: stopped } = await restore({}, [], { typed: 'both\n' });
    expect(stopped).toContain('Nothing was restored.');
    expect(await operator.registry.find('shop')).toBeUndefined();
    expect((await restore({}, ['--keep-keys', '--new-keys'])).code).toBe(2);
    expect(await restore({}, ['--keep-keys', '--project', 'shop'])).toMatchObject({ code: 0 });
  });
});

test('who unsubscribed comes back only after a question that says so', async () => {
  await restore({}, ['--keep-keys']);
  const { messages, code } = await restore({}, ['--add-subscriptions'], { typed: 'no\n' });
  expect(code).toBe(1);
  expect(messages).toContain('adds to shop the subscriptions of the backup');
  expect(messages).toContain('who has unsubscribed since is subscribed again');
});

test('a table of the stack that is missing is named', async () => {
  const own = projectTables(operator.database.tables);
  const restoring = checkRestoredTables(
    operator.database.dynamo,
    { ...own, usage: restored(own.usage) },
    { ...own, subscriptions: 'Gone' },
  );
  await expect(restoring).rejects.toThrow(
    'The stack\'s own table Subscriptions, "Gone", does not exist. Bring it back first: carillon tables restore.',
  );
});

test.each([
  [[], 'restoring'],
  [['--dry-run'], 'reading'],
])('with the options %j, a bar shows how many subscriptions are done', async (options, label) => {
  const { code, messages } = await restore({}, [...options, '--add-subscriptions', '--yes'], {
    typed: '',
  });
  expect(code).toBe(0);
  expect(messages).toContain(label);
  expect(messages).toContain('2/2');
});

test.each([
  'Restored-Usages',
  // No table can have this name.
  'R!',
])('a table "%s", which does not exist, is refused with those of the right keys', async (name) => {
  const { usage } = projectTables(operator.database.tables);
  const { code, messages } = await restore({ usage: name });
  expect(code).toBe(1);
  expect(messages).toBe(
    `There is no table "${name}" in this region. Tables with the right keys: ${restored(usage)}.\n`,
  );
});

test('a table with other keys is refused', async () => {
  const { usage, subscriptions } = projectTables(operator.database.tables);
  const { code, messages } = await restore({ usage: restored(subscriptions) });
  expect(code).toBe(1);
  expect(messages).toBe(
    `"${restored(subscriptions)}" is another table: its keys are projectPart and endpointHash, ` +
      `those of "${usage}" are projectRef and period. Tables with the right keys: ${restored(usage)}.\n`,
  );
});

test('without a restored table, the message says where to begin', async () => {
  const { deliveries, usage } = projectTables(operator.database.tables);
  await operator.database.dynamo.send(new DeleteTableCommand({ TableName: restored(usage) }));
  const { messages } = await restore({ usage: deliveries });
  expect(messages).toContain('these keys: restore one first, see docs/backup.md.');
});

// The local engines restore no tables.
test('a table that AWS is still restoring is refused, with where to find how to wait', async () => {
  const own = projectTables(operator.database.tables);
  const dynamo = clientWith(async (command: DescribeTableCommand) => {
    const response = await operator.database.dynamo.send(command);
    const isUsage = command.input.TableName === own.usage;
    if (!(command instanceof DescribeTableCommand) || !isUsage) return response;
    return { Table: { ...response.Table, TableStatus: 'CREATING' } };
  });
  await expect(checkRestoredTables(dynamo, own, own)).rejects.toThrow(
    `AWS is still restoring the table "${own.usage}". Wait for all five: docs/backup.md has the command.`,
  );
  await expect(checkRestoredTables(operator.database.dynamo, own, own)).resolves.toBeUndefined();
});
