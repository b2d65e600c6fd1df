import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface Folder {
  readonly path: string;
  /** Writes a file. @returns its path. */
  write(name: string, content: string): string;
}

/** A temporary folder, which each test finds empty. */
export function useFolder(): Folder {
  let path: string;
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'aws-emulator-'));
  });
  afterEach(() => rmSync(path, { recursive: true }));
  return {
    get path() {
      return path;
    },
    write(name, content) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
  };
}

/** Waits until a condition holds. The time-out of the test ends the wait. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(10);
}
