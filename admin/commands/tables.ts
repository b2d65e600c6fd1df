import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { constructIdOf, type TableName, tableNames } from '../../contract/infrastructure/tables.ts';
import {
  bringBack,
  complete,
  describeTable,
  type LostTable,
  lacksOf,
  lostTables,
  type TableLack,
} from '../lost-tables.ts';
import { newCommand } from '../terminal/command-line.ts';
import { formatTime } from '../terminal/table.ts';
import { dryRunOption, type RunOnStack } from './command.ts';

export function tablesCommand(runOnStack: RunOnStack): Command {
  return new Command('tables')
    .description('Brings back tables of the stack that were deleted.')
    .addCommand(restoreCommand(runOnStack));
}

/** Ms between two looks at a table that AWS restores. */
const pollMs = 5000;

function restoreCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'restore',
    'Restores deleted tables under their own names, from the backups that AWS makes of the moment of deletion, with what AWS leaves out: recovery, expiry, tags. Repeat it after an interruption.',
    ...['--dry-run', '', '--yes --json'],
  )
    .option(...dryRunOption)
    .option('--yes', 'restore without asking for confirmation')
    .action(() =>
      runOnStack(
        async ({ dynamo, tables, service, settings, terminal, dryRun, confirm, print }) => {
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
            await untilActive(table);
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
          const lines = [
            ...lost.map((one) => `${constructIdOf(one.table)}: ${planOf(one)}\n`),
            ...[...completed].map(
              ([table, lacks]) =>
                `${constructIdOf(table)}: got ${lacks.map((lack) => lackTexts[lack]).join(', ')}\n`,
            ),
          ];
          print(
            { dryRun, restored, completed: Object.fromEntries(completed) },
            lines.length === 0 ? 'All tables are there, and complete.\n' : lines.join(''),
          );

          async function untilActive(table: TableName): Promise<void> {
            for (let isWaiting = false; ; isWaiting = true) {
              const { TableStatus: status = 'CREATING' } =
                (await describeTable(dynamo, tables[table])) ?? {};
              if (status !== 'CREATING') return;
              if (!isWaiting) {
                terminal.messages.write(`AWS restores ${constructIdOf(table)}: ${status}\n`);
              }
              await sleep(pollMs);
            }
          }
        },
      ),
    );
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
