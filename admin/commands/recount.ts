import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { countOf, countText } from '../../contract/text/text.ts';
import { utcMonth } from '../../lambdas/store/counters.ts';
import { countedNow, countSeconds, type Recounted, recount } from '../recount.ts';
import { dryRunOption, projectCommand, type RunOnStack } from './command.ts';
import { abortOnInterrupt } from './doctor.ts';

export function recountCommand(runOnStack: RunOnStack): Command {
  return projectCommand(
    'recount',
    'Counts what a project has stored, and sets its counters: its subscribers, and its notifications of this UTC month.',
    ...['my-site --dry-run', 'my-site', 'my-site --yes --json'],
  )
    .option(...dryRunOption)
    .option('--yes', 'count without asking for confirmation')
    .action((projectId: string) =>
      runOnStack(async (context) => {
        const { registry, dynamo, tables, dryRun, print, confirm, withBar, settings } = context;
        const project = await registry.get(projectId);
        const { subscribers } = await registry.usage(projectId);
        if (!dryRun) {
          const seconds = countOf(countSeconds(subscribers), 'second');
          await confirm({
            effect:
              `refuses new subscribers, those who leave, and sends of "${projectId}" with 503, for about ${seconds}, ` +
              'and sets its counters from what is stored',
            expected: projectId,
            refusal: 'Nothing was changed.',
          });
        }
        const clock = () => new Date();
        const keptSince = Date.now() - settings.NOTIFICATION_DAYS * 24 * 60 * 60_000;
        const mayHaveExpired = keptSince > Date.parse(utcMonth(clock()));
        const { signal, stop } = abortOnInterrupt();
        const counted = await withBar('counting', subscribers, (onProgress) => {
          const deps = { dynamo, tables, clock, signal, onProgress, mayHaveExpired };
          return dryRun
            ? countedNow(deps, project)
            : recount(
                { ...deps, sleep: (ms, until) => sleep(ms, undefined, { signal: until }) },
                project,
              );
        }).finally(stop);
        print(
          { projectId, dryRun, ...counted },
          `"${projectId}": ${changeText('subscribers', counted.subscribers)}, ` +
            `${changeText(`notifications in ${counted.month}`, counted.sends)}.\n`,
        );
      }),
    );
}

function changeText(what: string, { before, after }: Recounted): string {
  const [one, other] = [before, after].map(countText);
  return before === after
    ? `${other} ${what}, as counted before`
    : `${other} ${what} instead of ${one}`;
}
