import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectLines, readProjectFile } from '../../../admin/project-file.ts';
import { WholeProjects } from '../../../admin/store/whole-projects.ts';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { importValues } from '../../fixtures/moved-subscriptions.ts';
import { useOperator } from '../../fixtures/operator.ts';
import { subscriptionJson } from '../../fixtures/subscription-lines.ts';

const operator = useOperator();

let number = 0;
let projectId: string;
let file: string;

beforeEach(async () => {
  number += 1;
  projectId = `site-${number}`;
  file = join(operator.directory, `${projectId}.project`);
  await operator.registry.create({ projectId, random: randomBytes });
  await importValues(operator, projectId, [subscriptionJson(), subscriptionJson()]);
});

const run = (...args: readonly string[]) => operator.runLocal(args);

async function exportLines(): Promise<string[]> {
  expect(await run('export', projectId, file)).toMatchObject({ code: 0 });
  return (await readFile(file, 'utf8')).split('\n');
}

async function importLines(lines: readonly string[]) {
  await writeFile(file, lines.join('\n'));
  return run('import', file);
}

test('the items of a project come out of a file as they went in', async () => {
  await exportLines();
  const tables = projectTables(operator.database.tables);
  const stored = new WholeProjects(operator.database.dynamo, tables);
  const { project, vapidKey, identityKey, ...read } = await readProjectFile(file);
  expect({ project, vapidKey, identityKey }).toEqual(await stored.find(projectId));
  const subscriptions = [];
  for await (const page of read.subscriptions()) subscriptions.push(...page);
  const expected = [];
  for await (const page of stored.subscriptionsOf(project.ref)) expected.push(...page);
  expect(subscriptions).toEqual(expected);
  expect(read.count).toBe(2);
});

test('an export names the call for another stack, not for its own', async () => {
  const { output } = await run('export', projectId, file);
  expect(output).toContain(`import '${file}' --stack <its name>\n`);
  expect(output).not.toContain('--local');
});

test('an import says how old the file is, whose keys it has, and which limits differ here', async () => {
  const lines = await exportLines();
  await operator.registry.invite(projectId, { name: 'Ann', role: 'viewer', random: randomBytes });
  await operator.registry.remove(projectId);
  const header = JSON.parse(lines[0]!);
  const other = { ...header, exportedAt: '2026-11-20T08:00:00.000Z' };
  other.limits.SUBSCRIBER_CAP = 1_000_000;
  const { code, output } = await importLines([JSON.stringify(other), ...lines.slice(1)]);
  expect(code).toBe(0);
  expect(output).toMatch(/Exported +2026-11-20 08:00 UTC\n/);
  expect(output).toMatch(/Keys +as at that time: also those that ended since\n/);
  expect(output).toMatch(/Members +none\n/);
  expect(output).toMatch(
    /Subscriptions +2, also of who has unsubscribed since, or was erased in another stack\n/,
  );
  expect(output).toMatch(/Subscriber cap +1,000, this deployment's; there 1,000,000\n/);
  expect(output).not.toContain('Requests per minute');
  expect(output).toMatch(/Paused +until you type .* resume site-\d+ --local\n/);
  expect(await operator.registry.get(projectId)).toMatchObject({ pausedAt: expect.any(String) });
  expect(await operator.registry.usage(projectId)).toMatchObject({ subscribers: 2 });
});

test.each<[string, (lines: string[]) => string[], RegExp]>([
  [
    'without its end',
    (lines) => lines.slice(0, -2),
    /its end is missing\. Export the project again/,
  ],
  ['without a subscription', (lines) => lines.toSpliced(5, 1), /its end is missing/],
  ['without a key', (lines) => lines.toSpliced(2, 1), /it lacks a key of the project/],
  [
    'with a line that is no JSON',
    (lines) => lines.toSpliced(5, 0, '{"subsc'),
    /line 6 is malformed/,
  ],
  [
    'with a line of a later version',
    (lines) => lines.toSpliced(5, 0, '{"rule":1}'),
    /line 6 is malformed/,
  ],
  [
    'with a subscription of another project',
    (lines) => lines.with(5, lines[5]!.replace(/"projectPart":"[^#]+/, '"projectPart":"other')),
    /line 6 is no subscription of this project/,
  ],
  [
    'of subscriptions only',
    () => [subscriptionJson()].map((one) => JSON.stringify(one)),
    /its first line is a subscription\. Use the command subscriptions import\.$/m,
  ],
  ['that is empty', () => [], /its end is missing/],
])('a file %s is refused, and nothing is changed', async (_, change, message) => {
  const lines = await exportLines();
  await operator.registry.remove(projectId);
  const { code, messages } = await importLines(change(lines));
  expect(code).toBe(1);
  expect(messages).toMatch(message);
  expect(await operator.registry.find(projectId)).toBeUndefined();
});

test('files that cannot be read, standard input and standard output are refused', async () => {
  expect((await run('import', '/nowhere/x')).messages).toMatch(/^Cannot read \/nowhere\/x: ENOENT/);
  expect((await run('import', operator.directory)).messages).toMatch(/^Cannot read .* EISDIR/);
  for (const args of [
    ['import', '-'],
    ['export', projectId, '-'],
  ]) {
    const { code, messages } = await run(...args);
    expect({ code, messages }).toMatchObject({
      code: 2,
      messages: expect.stringContaining('It contains private keys: name a file.'),
    });
  }
});

test('a file is replaced only after a question, and a project that changes meanwhile leaves none', async () => {
  await writeFile(file, 'precious');
  expect(await run('export', projectId, file)).toMatchObject({ code: 1 });
  expect(await readFile(file, 'utf8')).toBe('precious');
  const typed = await operator.runLocal(['export', projectId, file], { typed: 'no\n' });
  expect(typed.messages).toContain('replaces the file');
  expect(await run('export', projectId, file, '--yes')).toMatchObject({ code: 0 });

  const tables = projectTables(operator.database.tables);
  const whole = new WholeProjects(operator.database.dynamo, tables);
  const { project, vapidKey, identityKey } = (await whole.find(projectId))!;
  const limits = { SUBSCRIBER_CAP: 1, MONTHLY_SEND_CAP: 1, RATE_LIMIT_PER_MINUTE: 1 };
  const header = { projectId, exportedAt: new Date().toISOString(), limits };
  const part = { project, vapidKey: vapidKey!, identityKey: identityKey!, months: new Map() };
  const texts: string[] = [];
  const leaving = {
    ...part,
    erasures: () => whole.erasuresOf(project.ref),
    subscriptions: () => whole.subscriptionsOf(project.ref),
  };
  for await (const text of projectLines(header, leaving)) texts.push(text);
  expect(texts.at(-1)).toBe('{"end":{"subscriptions":2}}\n');
});

test('who is erased while a project is exported stays away from the other stack', async () => {
  const { dynamo, tables } = operator.database;
  const whole = new WholeProjects(dynamo, projectTables(tables));
  const { project, vapidKey, identityKey } = (await whole.find(projectId))!;
  const { ref } = project;
  const store = subscriptionStore(dynamo, projectTables(tables), () => new Date());
  let hash: Uint8Array | undefined;
  const leaving = {
    ...{ project, vapidKey: vapidKey!, identityKey: identityKey!, months: new Map() },
    erasures: () => whole.erasuresOf(ref),
    async *subscriptions() {
      for await (const page of whole.subscriptionsOf(ref)) {
        yield page;
        hash ??= page[0]?.endpointHash;
      }
      await store.erase(ref, undefined, [hash!]);
    },
  };
  const limits = { SUBSCRIBER_CAP: 1, MONTHLY_SEND_CAP: 1, RATE_LIMIT_PER_MINUTE: 1 };
  const header = { projectId, exportedAt: new Date().toISOString(), limits };
  await writeFile(file, projectLines(header, leaving));
  const erased = [];
  for await (const page of (await readProjectFile(file)).erasures()) erased.push(...page);
  expect(erased.map(({ endpointHash }) => endpointHash)).toEqual([hash]);
});
