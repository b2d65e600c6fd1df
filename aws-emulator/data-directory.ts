import { mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * Creates the directory of a stack's data: its tables have private keys, so only its owner can read it.
 * @returns its absolute path.
 * @throws {Error} with one line.
 */
export function createDataDirectory(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return resolve(path);
  } catch (error) {
    throw new Error(`Cannot create the data directory: ${(error as Error).message}`);
  }
}

/** @throws {Error} with one line. */
export function removeDataDirectory(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    throw new Error(`Cannot remove the data directory: ${(error as Error).message}`);
  }
}

/** What a person can do about data that another version wrote, or that are damaged. */
export const resetAdvice = 'Start with empty tables: npm start -- --reset';
