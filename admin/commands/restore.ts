import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeTableCommand,
  ListTablesCommand,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Command } from 'commander';
import type { RestoredTables } from '../../contract/infrastructure/tables.ts';
import { countOf, countText } from '../../contract/text/text.ts';
import type { ProjectItem, VapidKeyItem } from '../../lambdas/store/items.ts';
import { type ProjectStore, projectStore } from '../../lambdas/store/projects.ts';
import { CommandError, removalIncomplete } from '../errors.ts';
import { type ProjectRegistry, projectRegistry } from '../project-registry.ts';
import { subscriptionPages } from '../store/all-subscriptions.ts';
import {
  applicationServerKeys,
  type RegisteredProject,
  RegisteredProjects,
} from '../store/registered-projects.ts';
import { type RestoredItems, RestoredProjects, restoreMonth } from '../store/restored-projects.ts';
import {
  batchImport,
  type ImportCounts,
  type ImportDependencies,
  type ImportedSubscription,
  importSubscriptions,
} from '../store/subscription-import.ts';
import { newCommand } from '../terminal/command-line.ts';
import { isVapidPair } from '../vapid-pair.ts';
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
        const found = { ...own, find };
        const importBatch = batchImport(dynamo, tables, found, settings.SUBSCRIBER_CAP, dryRun);
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

interface RestoreSide {
  readonly dynamo: DynamoDBDocumentClient;
  readonly tables: RestoredTables;
}

/** Result of a restore for one project. */
export interface RestoredProject extends ImportCounts {
  readonly projectId: string;
  /** `other`: the stack has a later project of this id. Nothing was restored. */
  readonly project: 'created' | 'exists' | 'other';
  /** Subscriptions left out: the stack's project has dropped their application server key since. */
  readonly keyDropped: number;
}

export interface RestoreDependencies extends Omit<ImportDependencies, 'projectId'> {
  /** Changes nothing. `importBatch` must be of a dry run, too. */
  readonly dryRun?: boolean | undefined;
  /** Called with the number of subscriptions that were read so far, of all projects. */
  readonly onProgress?: (subscriptions: number) => void;
}

/**
 * Copies projects with their keys, subscriptions and months from tables that were restored from a backup. It only adds
 * and never replaces, except subscriptions that were updated later. Subscriptions are counted while they are added: the
 * counter of the backup is not used, which may be of another moment. Can be repeated after an interruption.
 */
export async function* restoreProjects(
  from: RestoreSide,
  to: RestoreSide,
  { dryRun = false, onProgress = () => {}, ...deps }: RestoreDependencies,
): AsyncGenerator<RestoredProject> {
  let read = 0;
  const nothing = { created: 0, updated: 0, unchanged: 0, overCap: 0, keyDropped: 0 };
  const backup = new RestoredProjects(from.dynamo, from.tables);
  const present = new RegisteredProjects(to.dynamo, to.tables);
  for await (const items of backup.allItems()) {
    const { project } = items;
    const { projectId, ref } = project;
    const existing = await restoreProject(items);
    if (existing !== undefined && existing.ref !== ref) {
      yield { projectId, project: 'other', ...nothing };
      continue;
    }
    const months = dryRun ? [] : await backup.monthsOf(ref);
    for (const [month, used] of months) {
      await restoreMonth(to.dynamo, to.tables.usage, ref, month, used);
    }
    const counts = await restoreSubscriptions(existing ?? project);
    yield { projectId, project: existing === undefined ? 'created' : 'exists', ...counts };
  }

  /** @returns the stack's project of this id, if it has one. Then nothing is changed. */
  async function restoreProject({
    project,
    vapidKey,
    identityKey,
  }: RestoredItems): Promise<RegisteredProject | undefined> {
    const { projects, vapidKeys, identityKeys } = from.tables;
    const { projectId } = project;
    const areExchanged =
      project.vapidPublicKey === undefined ||
      (vapidKey !== undefined && vapidKey.privateKey === undefined) ||
      (identityKey !== undefined && identityKey.identityKey === undefined);
    if (areExchanged) {
      throw wrongTable(
        `"${projects}", "${vapidKeys}" and "${identityKeys}" are not the restored tables Projects, VapidKeys and IdentityKeys. Were they exchanged?`,
      );
    }
    if (!identityKey || !vapidKey || !haveSameKeys(project, vapidKey)) {
      throw new CommandError(
        'restored_keys_mismatch',
        `The restored tables Projects, VapidKeys and IdentityKeys do not have the same keys of project "${projectId}", ` +
          'which was changed at that moment. Restore all of them to an earlier second.',
      );
    }
    const outcome = dryRun
      ? await present.findProjectOrRest(projectId)
      : await present.addProject(project, vapidKey, identityKey);
    if (outcome === 'half_removed') throw removalIncomplete(projectId);
    return outcome === 'added' ? undefined : outcome;
  }

  async function restoreSubscriptions(project: RegisteredProject) {
    const { projectId, ref } = project;
    const keys = applicationServerKeys(project);
    let keyDropped = 0;
    const counts = await importSubscriptions(usable(), { projectId, ...deps });
    return { ...counts, keyDropped };

    async function* usable(): AsyncGenerator<ImportedSubscription> {
      const { dynamo, tables } = from;
      for await (const items of subscriptionPages(dynamo, tables.subscriptions, ref)) {
        for (const item of items) {
          const vapidPairNumber = item.vapidPairNumber ?? 0;
          if (keys.has(vapidPairNumber)) yield { ...item, vapidPairNumber };
          else keyDropped += 1;
        }
        read += items.length;
        onProgress(read);
      }
    }
  }
}

/** Two restored tables may show different moments of one transaction, such as that of a rotation. */
function haveSameKeys(
  { vapidPublicKey, previousVapidPublicKey }: ProjectItem,
  { privateKey, previousPrivateKey }: VapidKeyItem,
): boolean {
  const pairs = [
    [vapidPublicKey, privateKey],
    [previousVapidPublicKey, previousPrivateKey],
  ] as const;
  return pairs.every(
    ([publicKey, secret]) =>
      publicKey === undefined ||
      (secret !== undefined && isVapidPair({ publicKey, privateKey: secret })),
  );
}

/**
 * Checks that each restored table is there to be read, and has the keys of the stack's table that it is given for.
 * @throws {CommandError}
 */
export async function checkRestoredTables(
  dynamo: DynamoDBDocumentClient,
  restored: RestoredTables,
  own: RestoredTables,
): Promise<void> {
  for (const name of Object.keys(restored) as (keyof RestoredTables)[]) {
    const table = await describe(restored[name]);
    const expected = keysOf(await describe(own[name]));
    if (table === undefined) {
      const mistake = `There is no table "${restored[name]}" in this region.`;
      throw wrongTable(`${mistake} ${await advice(expected)}`);
    }
    if (keysOf(table) !== expected) {
      const mistake = `"${restored[name]}" is another table: its keys are ${keysOf(table)}, those of "${own[name]}" are ${expected}.`;
      throw wrongTable(`${mistake} ${await advice(expected)}`);
    }
    // Until then, a read says that there is no such table.
    if (table.TableStatus === 'CREATING') {
      throw wrongTable(
        `AWS is still restoring the table "${restored[name]}". Wait for all five: docs/backup.md has the command.`,
      );
    }
  }

  async function advice(expected: string | undefined): Promise<string> {
    const candidates: string[] = [];
    for (const table of await tableNames()) {
      const isOwn = Object.values(own).includes(table);
      if (!isOwn && keysOf(await describe(table)) === expected) candidates.push(table);
    }
    return candidates.length === 0
      ? 'No table but those of the stack has these keys: restore one first, see docs/backup.md.'
      : `Tables with the right keys: ${candidates.join(', ')}.`;
  }

  /** @returns undefined: there is no such table. */
  async function describe(TableName: string): Promise<TableDescription | undefined> {
    try {
      return (await dynamo.send(new DescribeTableCommand({ TableName }))).Table;
    } catch (error) {
      // ValidationException: no table can have this name.
      const { name } = error as Error;
      if (['ResourceNotFoundException', 'ValidationException'].includes(name)) return undefined;
      throw error;
    }
  }

  async function tableNames(): Promise<readonly string[]> {
    const names: string[] = [];
    let last: string | undefined;
    do {
      const page = await dynamo.send(new ListTablesCommand({ ExclusiveStartTableName: last }));
      names.push(...(page.TableNames ?? []));
      last = page.LastEvaluatedTableName;
    } while (last !== undefined);
    return names;
  }
}

/** A table that the operator named for a restore is not the one. */
function wrongTable(message: string): CommandError {
  return new CommandError('wrong_table', message);
}

const keysOf = (table: TableDescription | undefined) =>
  table?.KeySchema?.map(({ AttributeName }) => AttributeName).join(' and ');
