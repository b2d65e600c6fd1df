import { type ImportDependencies, importSubscriptions } from './import.ts';
import type { ImportCounts, ImportedSubscription } from './import-batch.ts';
import type { ReadLine } from './line.ts';
import type { TextLine } from './text-lines.ts';

/** `created`, `updated`, `unchanged`, `overCap` and `invalid` add up to the lines that are not empty. */
export interface ImportReport extends ImportCounts {
  readonly invalid: number;
  /** Lines with a user id whose subscription is stored. */
  readonly withUserId: number;
  /** Lines whose subscription is stored, by the origin of their push service. */
  readonly pushServices: Readonly<Record<string, number>>;
  /** The first invalid lines. The first line is 1. */
  readonly mistakes: readonly { readonly line: number; readonly message: string }[];
}

export interface ImportLinesDependencies extends ImportDependencies {
  readonly readLine: ReadLine;
  /** @param lines read so far. */
  readonly onProgress: (lines: number) => void;
}

/** Invalid lines that a report names. */
const namedMistakes = 100;

/** Imports the lines of a file, without the invalid ones. See {@link importSubscriptions}. */
export async function importLines(
  lines: AsyncIterable<TextLine>,
  { readLine, onProgress, ...deps }: ImportLinesDependencies,
): Promise<ImportReport> {
  let invalid = 0;
  let withUserId = 0;
  const pushServices: Record<string, number> = {};
  const mistakes: { line: number; message: string }[] = [];
  const onStored = ({ projectUser, origin }: ImportedSubscription) => {
    if (projectUser !== undefined) withUserId += 1;
    pushServices[origin] = (pushServices[origin] ?? 0) + 1;
  };
  const counts = await importSubscriptions(validItems(), { ...deps, onStored });
  return { ...counts, invalid, withUserId, pushServices, mistakes };

  async function* validItems(): AsyncGenerator<ImportedSubscription> {
    let line = 0;
    for await (const textLine of lines) {
      line += 1;
      onProgress(line);
      if ('text' in textLine && textLine.text.trim() === '') continue;
      const read = 'text' in textLine ? readLine(textLine.text) : textLine;
      if ('mistake' in read) {
        invalid += 1;
        if (mistakes.length < namedMistakes) mistakes.push({ line, message: read.mistake });
      } else {
        yield read;
      }
    }
  }
}
