import {
  type ImportCounts,
  type ImportDependencies,
  type ImportedSubscription,
  importSubscriptions,
} from '../../lambdas/store/subscription-import.ts';
import type { ReadLine } from './line.ts';
import { joinedRows, type ListColumns, type SkipReason } from './list-columns.ts';
import type { ListFile } from './list-file.ts';

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
