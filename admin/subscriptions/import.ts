import { ServiceError } from '../../contract/errors.ts';
import { partCount, partOf } from '../../lambdas/store/subscription-keys.ts';
import {
  type ImportBatch,
  type ImportCounts,
  type ImportedSubscription,
  importBatchSize,
} from './import-batch.ts';
import type { ReadLine } from './line.ts';
import { joinedRows, type ListColumns, type SkipReason } from './list-columns.ts';
import type { ListFile } from './list-file.ts';

export interface ImportDependencies {
  readonly projectId: string;
  readonly importBatch: ImportBatch;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Called with each subscription that is stored now, also if it was before. */
  readonly onStored?: (subscription: ImportedSubscription) => void;
}

/** Pauses while the database throttles; a new table doubles its capacity within minutes. */
const busyDelaysMs = [1000, 2000, 5000, 10_000, 20_000, 30_000, 30_000, 30_000];

/**
 * Imports subscriptions in their order, as if each were imported alone: {@link ImportBatch} says what the second of
 * two with the same endpoint changes. If the import fails or is killed, the same import again completes it.
 *
 * One batch per part is in progress at a time, so that batches do not conflict, and those with the same endpoint
 * are written in their order.
 * @returns counts that add up to the subscriptions.
 * @throws {ProjectNotFound}
 */
export async function importSubscriptions(
  subscriptions: AsyncIterable<ImportedSubscription>,
  { projectId, importBatch, sleep, onStored = () => {} }: ImportDependencies,
): Promise<ImportCounts> {
  const total = { created: 0, updated: 0, unchanged: 0, overCap: 0 };
  /** By part: its next batch, by endpoint. */
  const batches = Array.from({ length: partCount }, () => new Map<string, ImportedSubscription>());
  const inProgress = new Map<number, Promise<void>>();
  let failure: { readonly error: unknown } | undefined;

  for await (const item of subscriptions) {
    const endpoint = item.origin + item.path;
    const part = partOf(item.endpointHash);
    const batch = batches[part]!;
    // Not merged here: only the database knows what the first one changes.
    if (batch.has(endpoint)) await start(part);
    batch.set(endpoint, item);
    if (batch.size === importBatchSize) await start(part);
    if (failure) throw failure.error;
  }
  for (const part of batches.keys()) await start(part);
  await Promise.all(inProgress.values());
  if (failure) throw failure.error;
  return total;

  /** Waits for the part's batch before, and starts to write this one. */
  async function start(part: number): Promise<void> {
    const batch = [...batches[part]!.values()];
    batches[part]!.clear();
    await inProgress.get(part);
    if (failure || batch.length === 0) return;
    const writing = write(batch).catch((error: unknown) => {
      failure ??= { error };
    });
    inProgress.set(part, writing);
  }

  async function write(batch: readonly ImportedSubscription[]): Promise<void> {
    for (let busy = 0; ; busy += 1) {
      try {
        const counts = await importBatch(projectId, batch);
        total.created += counts.created;
        total.updated += counts.updated;
        total.unchanged += counts.unchanged;
        total.overCap += counts.overCap;
        for (const subscription of counts.stored) onStored(subscription);
        return;
      } catch (error) {
        const isBusy = error instanceof ServiceError && error.code === 'unavailable';
        if (!isBusy || busy === busyDelaysMs.length) throw error;
        await sleep(busyDelaysMs[busy]!);
      }
    }
  }
}

/** `created`, `updated`, `unchanged`, `overCap`, `invalid` and the counts in `skipped` add up to the rows. */
export interface ImportReport extends ImportCounts {
  readonly invalid: number;
  /** Rows that are no subscription of this project, by reason. */
  readonly skipped: Partial<Record<SkipReason, number>>;
  /** Rows with a user id whose subscription is stored. */
  readonly withUserId: number;
  /** The same with channels. */
  readonly withChannels: number;
  /** Rows whose subscription is stored, by the origin of their push service. */
  readonly pushServices: Readonly<Record<string, number>>;
  /** The first invalid rows. */
  readonly mistakes: readonly Mistake[];
}

export interface Mistake {
  /** On which it starts, from 1. */
  readonly line: number;
  /** Its number in an array. */
  readonly row?: number | undefined;
  readonly message: string;
}

export interface ImportListDependencies extends ImportDependencies {
  readonly readLine: ReadLine;
  readonly columns: ListColumns;
}

/** Invalid rows that a report names. */
const namedMistakes = 100;

/** Imports the rows of a list, without the invalid ones. See {@link importSubscriptions}. */
export async function importList(
  { form, rows }: Pick<ListFile, 'form' | 'rows'>,
  { readLine, columns, ...deps }: ImportListDependencies,
): Promise<ImportReport> {
  let [invalid, withUserId, withChannels] = [0, 0, 0];
  const skipped: Partial<Record<SkipReason, number>> = {};
  const pushServices: Record<string, number> = {};
  const mistakes: Mistake[] = [];
  const onStored = ({ projectUser, channels, origin }: ImportedSubscription) => {
    if (projectUser !== undefined) withUserId += 1;
    if (channels !== undefined) withChannels += 1;
    pushServices[origin] = (pushServices[origin] ?? 0) + 1;
  };
  const counts = await importSubscriptions(validItems(), { ...deps, onStored });
  return { ...counts, invalid, skipped, withUserId, withChannels, pushServices, mistakes };

  async function* validItems(): AsyncGenerator<ImportedSubscription> {
    for await (const row of joinedRows(rows)) {
      const read = 'value' in row ? readValue(row.value) : row;
      if ('skipped' in read) {
        skipped[read.skipped] = (skipped[read.skipped] ?? 0) + 1;
      } else if ('mistake' in read) {
        invalid += 1;
        const { line, row: number } = row;
        if (mistakes.length < namedMistakes)
          mistakes.push({ line, row: number, message: read.mistake });
      } else {
        yield read;
      }
    }
  }

  function readValue(value: unknown) {
    // Carillon's own lines have no other fields: one that is mistyped must not be overlooked.
    const isOwn = form === 'JSON lines' && Object.hasOwn(Object(value), 'keys');
    const found = isOwn || Object(value) !== value ? undefined : columns.read(value as object);
    if (found === undefined) return readLine(value);
    if (!('line' in found)) return found;
    const item = readLine(found.line);
    return 'mistake' in item && item.isOtherKey ? ({ skipped: 'otherKey' } as const) : item;
  }
}
