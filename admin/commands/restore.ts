import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { RestoredTables } from '../../contract/infrastructure/tables.ts';
import { countOf, countText } from '../../contract/text/text.ts';
import { type ProjectStore, projectStore } from '../../lambdas/store/projects.ts';
import { batchImport } from '../../lambdas/store/subscription-import.ts';
import { CommandError } from '../errors.ts';
import { type ProjectRegistry, projectRegistry } from '../project-registry.ts';
import { checkRestoredTables, type RestoredProject, restoreProjects } from '../restore.ts';
import { newCommand } from '../terminal/command-line.ts';
import { dryRunOption, type RunOnStack } from './command.ts';

export function restoreCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'restore',
    'Copies projects from tables that were restored from a backup. It only adds.',
    '--projects R-Projects --vapid-keys R-VapidKeys --identity-keys R-IdentityKeys --subscriptions R-Subscriptions --usage R-Usage',
  )
    .requiredOption('--projects <table>', 'restored table Projects')
    .requiredOption('--vapid-keys <table>', 'restored table VapidKeys')
    .requiredOption('--identity-keys <table>', 'restored table IdentityKeys')
    .requiredOption('--subscriptions <table>', 'restored table Subscriptions')
    .requiredOption('--usage <table>', 'restored table Usage')
    .option(...dryRunOption)
    .action(({ projects, vapidKeys, identityKeys, subscriptions, usage }: RestoredTables) =>
      runOnStack(async ({ dynamo, tables, settings, dryRun, print, withBar }) => {
        const from = {
          dynamo,
          tables: { projects, vapidKeys, identityKeys, subscriptions, usage },
        };
        await checkRestoredTables(dynamo, from.tables, tables);
        const clock = () => new Date();
        const own = projectStore(dynamo, tables.projects, clock);
        const backup = projectStore(dynamo, projects, clock);
        // A dry run creates no project.
        const find: ProjectStore['find'] = async (...parameters) =>
          (await own.find(...parameters)) ?? (dryRun ? backup.find(...parameters) : undefined);
        const importBatch = batchImport(dynamo, tables, { find }, settings.SUBSCRIBER_CAP, dryRun);
        const subscribers = await subscribersIn(
          projectRegistry(dynamo, { ...tables, ...from.tables }, clock),
        );
        const restored: RestoredProject[] = [];
        await withBar(dryRun ? 'reading' : 'restoring', subscribers, async (onProgress) => {
          const deps = { importBatch, sleep, dryRun, onProgress };
          for await (const project of restoreProjects(from, { dynamo, tables }, deps)) {
            restored.push(project);
          }
        });
        const json = restored.map((project) => ({ ...project, dryRun }));
        print(json, restored.map(line).join(''));
        const incomplete = restored.filter(
          ({ project, overCap }) => project === 'other' || overCap > 0,
        );
        if (incomplete.length > 0) {
          const ids = incomplete.map(({ projectId }) => projectId).join(', ');
          throw new CommandError('restore_incomplete', `Not fully restored: ${ids}.`);
        }
      }),
    );
}

async function subscribersIn(registry: ProjectRegistry): Promise<number> {
  let sum = 0;
  for await (const { projectId, ref } of registry.list()) {
    // Items of VapidKeys have none: the restore refuses them.
    if (ref !== undefined) sum += (await registry.usage(projectId)).subscribers;
  }
  return sum;
}

function line({ projectId, project, overCap, keyDropped, ...counted }: RestoredProject) {
  if (project === 'other') return `${projectId}: a later project has this id, nothing restored\n`;
  const counts = [
    `${countOf(counted.created, 'subscription')} added`,
    `${countText(counted.updated)} updated`,
    `${countText(counted.unchanged)} unchanged`,
    ...(overCap > 0 ? [`${countText(overCap)} above the cap`] : []),
    ...(keyDropped > 0 ? [`${countText(keyDropped)} of a dropped key left out`] : []),
  ];
  return `${projectId}: project ${project}, ${counts.join(', ')}\n`;
}
