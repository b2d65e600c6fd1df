import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { constructIdOf, type TableName, tableNames } from '../../contract/infrastructure/tables.ts';
import { CommandError } from '../errors.ts';
import {
  bringBack,
  complete,
  describeTable,
  type LostTable,
  lacksOf,
  lostTables,
  type TableLack,
} from '../lost-tables.ts';
import { restoreBeside, restoredTableNames, secondText, tablesAt } from '../restored-tables.ts';
import { newCommand } from '../terminal/command-line.ts';
import { formatTime } from '../terminal/table.ts';
import { type Context, dryRunOption, type RunOnStack, readTime } from './command.ts';

export function tablesCommand(runOnStack: RunOnStack): Command {
  return new Command('tables')
    .description('Restores tables of the stack from backups.')
    .addCommand(restoreCommand(runOnStack));
}

/** Ms between two looks at a table that AWS restores. */
const pollMs = 5000;

function restoreCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'restore',
    'Restores deleted tables under their own names, from the backups that AWS makes of the moment of deletion, with what AWS leaves out: recovery, expiry, tags. With --at, it restores copies of an earlier second, and the stack keeps its tables. Repeat it after an interruption.',
    ...['--dry-run', '', '--yes --json', '--at 2026-11-20T08:00:00Z'],
  )
    .option(
      '--at <time>',
      'restore the five tables that restore reads, as of this second of the last 35 days, or `recoveryDays` (RFC 3339), beside those of the stack',
      readTime,
    )
    .option(...dryRunOption)
    .option('--yes', 'restore without asking for confirmation')
    .action(({ at }: { readonly at?: Date }) =>
      runOnStack(async (context) => {
        if (at !== undefined) return besideAt(at, context);
        const { dynamo, tables, service, settings, terminal, dryRun, confirm, print } = context;
        const deps = { dynamo, tables, service, settings };
        const lost = await lostTables(deps);
        if (lost.length > 0 && !dryRun) {
          await confirm({
            effect: lost.map(planOf).join('; '),
            expected: 'restore',
            label: 'word restore',
            refusal: 'Nothing was restored.',
          });
          for (const one of lost) await bringBack(deps, one);
        }
        const completed = new Map<TableName, readonly TableLack[]>();
        for (const table of tableNames) {
          if (dryRun && lost.some((one) => one.table === table)) continue;
          await untilActive(dynamo, tables[table], terminal);
          const lacks = await lacksOf(deps, table);
          if (lacks.length === 0) continue;
          if (!dryRun) await complete(deps, table, lacks);
          completed.set(table, lacks);
        }
        const restored = lost.map(({ table, name, backup }) => ({
          table,
          name,
          backupOf: backup?.time.toISOString(),
        }));
        const got = dryRun ? 'would get' : 'got';
        const lines = [
          ...lost.map((one) => `${constructIdOf(one.table)}: ${planOf(one)}\n`),
          ...[...completed].map(
            ([table, lacks]) =>
              `${constructIdOf(table)}: ${got} ${lacks.map((lack) => lackTexts[lack]).join(', ')}\n`,
          ),
        ];
        print(
          { dryRun, restored, completed: Object.fromEntries(completed) },
          lines.length === 0 ? 'All tables are there, and complete.\n' : lines.join(''),
        );
      }),
    );
}

/** Restores copies of the tables as of a second. */
async function besideAt(at: Date, context: Context): Promise<void> {
  const { dynamo, tables, service, terminal, dryRun, print, next } = context;
  if (service === undefined) {
    throw new CommandError('no_backups', 'A local stack has no backups of its tables.');
  }
  const names = tablesAt(tables, at);
  if (!dryRun) {
    await restoreBeside(dynamo, tables, at);
    for (const table of restoredTableNames) await untilActive(dynamo, names[table], terminal);
  }
  const restored = Object.values(names);
  const call = next(`restore --at ${secondText(at)} --dry-run`);
  print(
    { dryRun, restored },
    `Restores ${formatTime(secondText(at))} as:\n${restored.map((name) => `  ${name}\n`).join('')}` +
      (dryRun ? '' : `They contain keys: delete them afterwards. Next: ${call}\n`),
  );
}

/** Waits while AWS restores a table. */
async function untilActive(
  dynamo: Context['dynamo'],
  name: string,
  { messages }: Context['terminal'],
): Promise<void> {
  for (let isWaiting = false; ; isWaiting = true) {
    const { TableStatus: status = 'CREATING' } = (await describeTable(dynamo, name)) ?? {};
    if (status !== 'CREATING') return;
    if (!isWaiting) messages.write(`AWS restores "${name}"\n`);
    await sleep(pollMs);
  }
}

function planOf({ name, backup }: LostTable): string {
  return backup === undefined
    ? `creates "${name}" empty, because AWS has no backup of it`
    : `restores "${name}" as of its deletion, ${formatTime(backup.time.toISOString())}`;
}

const lackTexts: Readonly<Record<TableLack, string>> = {
  recovery: 'point-in-time recovery',
  expiry: 'the expiry of its items',
  tag: 'its tag',
};
