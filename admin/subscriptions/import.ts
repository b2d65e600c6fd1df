import { ServiceError } from '../../contract/errors.ts';
import type { SubscriberCounter } from '../../contract/project.ts';
import { endpointHash, partCount, partOf } from '../../lambdas/store/subscription-keys.ts';
import { type ImportBatch, type ImportCounts, importBatchSize } from './import-batch.ts';
import type { ImportedSubscription, ReadLine } from './line.ts';

/** `created`, `updated`, `unchanged`, `overCap` and `invalid` add up to the lines that are not empty. */
export interface ImportReport extends ImportCounts {
  readonly invalid: number;
  /** The first invalid lines. The first line is 1. */
  readonly mistakes: readonly { readonly line: number; readonly message: string }[];
}

export interface ImportOptions {
  readonly project: { readonly projectId: string; readonly subscriberCounter: SubscriberCounter };
  readonly lines: AsyncIterable<string>;
  readonly readLine: ReadLine;
  readonly importBatch: ImportBatch;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** @param lines read so far. */
  readonly onProgress: (lines: number) => void;
}

/** Invalid lines that a report names. */
const namedMistakes = 100;

/** Pauses while the database throttles; a new table doubles its capacity within minutes. */
const busyDelaysMs = [1000, 2000, 5000, 10_000, 20_000, 30_000, 30_000, 30_000];

/**
 * Imports the lines of a file. Of two lines with the same endpoint, the last one counts. If the import fails or is
 * killed, the same import again completes it.
 *
 * One batch per subscriber counter is in progress at a time, so that batches do not conflict, and those with the
 * same endpoint are written in the order of the file.
 * @throws {ProjectNotFound}
 */
export async function importSubscriptions(options: ImportOptions): Promise<ImportReport> {
  const { project, lines, readLine, importBatch, sleep, onProgress } = options;
  const report = { created: 0, updated: 0, unchanged: 0, overCap: 0, invalid: 0 };
  const mistakes: { line: number; message: string }[] = [];
  /** By part: its next batch, by endpoint. */
  const batches = Array.from({ length: partCount }, () => new Map<string, ImportedSubscription>());
  const inProgress = new Map<number, Promise<void>>();
  let failure: { readonly error: unknown } | undefined;

  let line = 0;
  for await (const text of lines) {
    line += 1;
    onProgress(line);
    if (text.trim() === '') continue;
    const read = readLine(text);
    if ('mistake' in read) {
      report.invalid += 1;
      if (mistakes.length < namedMistakes) mistakes.push({ line, message: read.mistake });
      continue;
    }
    const { href } = read.endpoint;
    const part = partOf(endpointHash(href));
    const batch = batches[part]!;
    // The line above is superseded before it was written.
    if (batch.has(href)) report.unchanged += 1;
    batch.set(href, read);
    if (batch.size === importBatchSize) await start(part);
    if (failure) throw failure.error;
  }
  for (const part of batches.keys()) await start(part);
  await Promise.all(inProgress.values());
  if (failure) throw failure.error;
  return { ...report, mistakes };

  /** Waits until the counter of a part is free, and starts to write the part's batch. */
  async function start(part: number): Promise<void> {
    const batch = [...batches[part]!.values()];
    batches[part]!.clear();
    const counter = project.subscriberCounter === 'single' ? 0 : part;
    await inProgress.get(counter);
    if (failure || batch.length === 0) return;
    const writing = write(batch).catch((error: unknown) => {
      failure ??= { error };
    });
    inProgress.set(counter, writing);
  }

  async function write(batch: readonly ImportedSubscription[]): Promise<void> {
    for (let busy = 0; ; busy += 1) {
      try {
        const counts = await importBatch(project.projectId, batch);
        report.created += counts.created;
        report.updated += counts.updated;
        report.unchanged += counts.unchanged;
        report.overCap += counts.overCap;
        return;
      } catch (error) {
        const isBusy = error instanceof ServiceError && error.code === 'unavailable';
        if (!isBusy || busy === busyDelaysMs.length) throw error;
        await sleep(busyDelaysMs[busy]!);
      }
    }
  }
}
