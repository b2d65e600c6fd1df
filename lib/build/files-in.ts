import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The paths of all files in a folder and its folders, in one order on every machine. */
export function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}
