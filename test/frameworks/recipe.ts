import { readFileSync } from 'node:fs';

/** A row of the table of frameworks in docs/sdk.md. */
export interface Recipe {
  /** npm packages with their versions. Empty if only people have tried it. */
  readonly packages: readonly string[];
  /** What to write, by the file. */
  readonly lines: Readonly<Record<string, string>>;
  /** The folder to which the worker is copied, if any. */
  readonly copyTo: string | undefined;
  /** The option of `init`. */
  readonly serviceWorker: string;
}

const header =
  /^\| Framework \| Tested with \| What to type \| `serviceWorker` \|\n.*\n((?:\|.*\n)+)/m;

/** Reads the recipes from the document, by the framework. */
export function readRecipes(): ReadonlyMap<string, Recipe> {
  const [, rows] = header.exec(readFileSync('docs/sdk.md', 'utf8'))!;
  return new Map(rows!.trim().split('\n').map(readRow));
}

function readRow(row: string): [framework: string, Recipe] {
  const [framework, testedWith, toType, serviceWorker] = row.slice(2, -2).split(' | ');
  const [, copyTo] = /copy `carillon-sw\.js` to `([^`]+)`/.exec(toType!) ?? [];
  const lines = [...toType!.matchAll(/`([^`]+)`: `([^`]+)`/g)];
  return [
    framework!.replaceAll('`', ''),
    {
      packages: [...testedWith!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
      lines: Object.fromEntries(lines.map(([, file, line]) => [file, line])),
      copyTo,
      serviceWorker: serviceWorker!.replaceAll('`', ''),
    },
  ];
}
