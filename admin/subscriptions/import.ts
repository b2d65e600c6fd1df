import { ServiceError } from '../../contract/errors.ts';
import { partCount, partOf } from '../../lambdas/store/subscription-keys.ts';
import {
  type ImportBatch,
  type ImportCounts,
  type ImportedSubscription,
  importBatchSize,
} from './import-batch.ts';

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
