import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  DescribeTableCommand,
  RestoreTableToPointInTimeCommand,
  type RestoreTableToPointInTimeCommandInput,
} from '@aws-sdk/client-dynamodb';
import { connect } from '../../../admin/commands/connection.ts';
import { runCarillon } from '../../../admin/commands/run.ts';
import { checkRestoredTables, tablesAt } from '../../../admin/restored-tables.ts';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import { clientWith } from '../../fixtures/client-with.ts';
import { copyTable } from '../../fixtures/copy-table.ts';
import { importValues } from '../../fixtures/moved-subscriptions.ts';
import { type RunOptions, useOperator } from '../../fixtures/operator.ts';
import { subscriptionJson } from '../../fixtures/subscription-lines.ts';
import { testTerminal } from '../../fixtures/terminal.ts';

const operator = useOperator();
const at = '2026-11-20T08:00:00Z';
/** What was asked of AWS. */
const asked: RestoreTableToPointInTimeCommandInput[] = [];

beforeAll(async () => {
  await operator.registry.create({ projectId: 'shop', random: randomBytes });
  const ann = { name: 'Ann', role: 'sender', random: randomBytes } as const;
  await operator.registry.invite('shop', ann);
  await importValues(operator, 'shop', [subscriptionJson(), subscriptionJson()]);
  expect(await tablesRestore()).toMatchObject({ code: 0 });
  await operator.registry.remove('shop');
});

/** `carillon tables restore --at`, on AWS: the local engines restore no tables. */
async function tablesRestore(...options: readonly string[]) {
  const dynamo = clientWith(async (command: DescribeTableCommand) => {
    if (!(command instanceof RestoreTableToPointInTimeCommand)) {
      return operator.database.dynamo.send(command);
    }
    asked.push(command.input);
    const { SourceTableName, TargetTableName } = command.input;
    await copyTable(operator.database.dynamo, SourceTableName!, TargetTableName!);
    return {};
  });
  const terminal = testTerminal();
  const args = ['tables', 'restore', '--at', at, ...options];
  const code = await runCarillon(args, terminal, '', async () => {
    const stateFile = join(operator.directory, 'local.json');
    return { ...(await connect({ kind: 'local', stateFile })), dynamo, service: 'Carillon' };
  });
  return { code, ...terminal.written() };
}

const restore = (options: readonly string[] = [], runOptions: RunOptions = {}) =>
  operator.runLocal(['restore', '--at', at, ...options], runOptions);

const own = () => projectTables(operator.database.tables);

test('AWS restores the tables of a second beside those of the stack, once, with their encryption', async () => {
  const { projects, vapidKeys } = own();
  const restoring = {
    SourceTableName: projects,
    TargetTableName: `${projects}-2026-11-20T08.00.00Z`,
    RestoreDateTime: new Date(at),
  };
  const encrypted = { Enabled: true, SSEType: 'KMS' };
  expect(asked).toHaveLength(5);
  expect(asked).toContainEqual(restoring);
  expect(asked.filter((one) => one.SSESpecificationOverride)).toMatchObject([
    { SourceTableName: vapidKeys, SSESpecificationOverride: encrypted },
    { SSESpecificationOverride: encrypted },
  ]);
  for (const options of [['--dry-run'], []]) {
    const { output } = await tablesRestore(...options);
    expect(output).toMatch(/^Restores 2026-11-20 08:00.* as:\n/);
  }
  expect(asked).toHaveLength(5);
  expect((await tablesRestore()).output).toContain(
    `Next: npm run -s carillon -- restore --at ${at} --dry-run`,
  );
});

test('a local stack has no backups', async () => {
  const { code, messages } = await operator.runLocal(['tables', 'restore', '--at', at]);
  expect({ code, messages }).toEqual({
    code: 1,
    messages: 'A local stack has no backups of its tables.\n',
  });
});

test('a dry run changes nothing, and says what the restore then does', async () => {
  const done =
    'shop: project created, 2 subscriptions added, 0 updated, 0 unchanged\n' +
    '  Valid as in the backup, also if ended since: secret key, member key of Ann (sender), identity key\n';
  const dry = await restore(['--dry-run']);
  expect(dry).toMatchObject({
    code: 0,
    output: `${done}This was a dry run: nothing was changed.\n`,
  });
  expect(await operator.registry.find('shop')).toBeUndefined();
  const { code, output } = await restore(['--keep-keys']);
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
  expect((await restore(['--dry-run'])).output).toContain(
    'project exists, 0 subscriptions added, 0 updated, 0 unchanged',
  );
  const json = async (...options: readonly string[]) =>
    JSON.parse((await restore(['--json', '--add-subscriptions', '--yes', ...options])).output);
  const exists = { projectId: 'shop', project: 'exists', unchanged: 2 };
  expect(await json('--dry-run')).toMatchObject([{ ...exists, dryRun: true }]);
  expect((await json())[0]).not.toHaveProperty('dryRun');
});

describe('of a missing project', () => {
  beforeEach(async () => {
    if (await operator.registry.find('shop')) await operator.registry.remove('shop');
  });

  const missing = 'Missing, and to be created as of 2026-11-20 08:00';

  test('the operator is asked for its keys', async () => {
    const { messages, output } = await restore([], { typed: 'new\n' });
    expect(messages).toContain(missing);
    expect(messages).toContain('also those that were replaced or revoked since');
    expect(messages).toContain('Members then: Ann (shop).\n');
    expect(output).toMatch(/^ {2}Its secret key, printed only once: \S*carillon_sk_/m);
    const other = await restore(['--yes'], { typed: 'yes\n' });
    expect(other).toMatchObject({ code: 0, output: expect.stringContaining('project exists') });
  });

  test('without a terminal, the call says which keys, and nothing is restored before', async () => {
    const { code, messages } = await restore();
    expect(code).toBe(1);
    expect(messages).toMatch(/Use --keep-keys or --new-keys\.\n$/);
    const { messages: stopped } = await restore([], { typed: 'both\n' });
    expect(stopped).toContain('Nothing was restored.');
    expect(await operator.registry.find('shop')).toBeUndefined();
    expect((await restore(['--keep-keys', '--new-keys'])).code).toBe(2);
    expect(await restore(['--keep-keys', '--project', 'shop'])).toMatchObject({ code: 0 });
  });
});

test('who unsubscribed comes back only after a question that says so', async () => {
  await restore(['--keep-keys']);
  const { messages, code } = await restore(['--add-subscriptions'], { typed: 'no\n' });
  expect(code).toBe(1);
  expect(messages).toContain('adds to shop the subscriptions as of 2026-11-20 08:00');
  expect(messages).toContain('who has unsubscribed since is subscribed again');
});

test('a table of the stack that is missing is named', async () => {
  const { dynamo } = operator.database;
  const restoring = checkRestoredTables(dynamo, { ...own(), usage: 'Gone' }, new Date(at));
  await expect(restoring).rejects.toThrow(
    'The stack\'s own table Usage, "Gone", does not exist. Bring it back first: carillon tables restore.',
  );
});

test.each([
  [[], 'restoring'],
  [['--dry-run'], 'reading'],
])('with the options %j, a bar shows how many subscriptions are done', async (options, label) => {
  const { code, messages } = await restore([...options, '--add-subscriptions', '--yes'], {
    typed: '',
  });
  expect(code).toBe(0);
  expect(messages).toContain(label);
  expect(messages).toContain('2/2');
});

test('a second without restored tables is refused, with those that have them', async () => {
  const other = '2026-11-20T09:00:00Z';
  const { code, messages } = await operator.runLocal(['restore', '--at', other]);
  expect({ code, messages }).toEqual({
    code: 1,
    messages:
      `There is no table "${own().projects}-2026-11-20T09.00.00Z". ` +
      `First: carillon tables restore --at ${other}, which waits for all five. Tables of these seconds exist: ${at}.\n`,
  });
});

test('tables that AWS is still restoring are refused', async () => {
  const { usage } = tablesAt(own(), new Date(at));
  const dynamo = clientWith(async (command: DescribeTableCommand) => {
    const response = await operator.database.dynamo.send(command);
    if (!(command instanceof DescribeTableCommand) || command.input.TableName !== usage) {
      return response;
    }
    return { Table: { ...response.Table, TableStatus: 'CREATING' } };
  });
  await expect(checkRestoredTables(dynamo, own(), new Date(at))).rejects.toThrow(
    `AWS is still restoring "${usage}". First: carillon tables restore --at ${at}, which waits for all five.`,
  );
});

test('if one of two projects fails, the new key of the other is printed', async () => {
  const second = '2026-11-21T08:00:00Z';
  const names = ['first', 'second'];
  for (const projectId of names) await operator.registry.create({ projectId, random: randomBytes });
  const copies = tablesAt(own(), new Date(second));
  for (const [table, copy] of Object.entries(copies)) {
    await copyTable(operator.database.dynamo, own()[table as keyof typeof copies], copy);
  }
  for (const projectId of names) await operator.registry.remove(projectId);
  const dynamo = clientWith(async (command: { readonly input: object }) => {
    const isOfSecond = JSON.stringify(command.input).includes('"second"');
    if ('TransactItems' in command.input && isOfSecond) throw new Error('The database fails.');
    return operator.database.dynamo.send(command as never);
  });
  const terminal = testTerminal();
  const args = ['restore', '--at', second, '--project', 'first', '--project', 'second'];
  const code = await runCarillon([...args, '--new-keys'], terminal, '', async () => {
    const stateFile = join(operator.directory, 'local.json');
    return { ...(await connect({ kind: 'local', stateFile })), dynamo };
  });
  const { output, messages } = terminal.written();
  expect({ code, messages }).toMatchObject({
    code: 1,
    messages: expect.stringContaining('The database fails.'),
  });
  expect(output).toMatch(/^first: project created.*\n {2}Its secret key, .* carillon_sk_/);
});
