import { projectIdPattern } from '../../contract/wire/formats.ts';
import { CarillonError } from './error.ts';

/** Checks of options that pages and servers give. Errors never repeat a value: it may be a secret key. */

/** @returns the origin. @throws {CarillonError} `invalid_options`. */
export function readBaseUrl(value: unknown): string {
  return requireMatch(
    // Without user name, path, query and fragment.
    /^https?:\/\/[^/@]+\/$/,
    readUrl(value)?.href,
    'baseUrl',
    'use one such as "https://push.example.com"',
  ).slice(0, -1);
}

/** @throws {CarillonError} `invalid_options`. */
export function readProjectId(value: unknown): string {
  return requireMatch(projectIdPattern, value, 'projectId');
}

/** @throws {CarillonError} `invalid_options` with the advice if the value does not match. */
export function requireMatch(
  pattern: RegExp,
  value: unknown,
  name: string,
  advice = 'copy it from the API key card',
): string {
  if (typeof value !== 'string' || !pattern.test(value)) throw invalidOption(name, advice);
  return value;
}

/** @throws {CarillonError} for an option that does not exist, with the one that was probably meant. */
export function expectKnown(options: object, names: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    // Enough letters to tell most options apart, and to find what `projectID` and `base_url` mean.
    const start = name.slice(0, 3).toLowerCase();
    const meant = names.find((known) => known.startsWith(start)) ?? names.join(', ');
    throw invalidOption(name, `unknown; use ${meant}`);
  }
}

export function readUrl(value: unknown, base?: string): URL | undefined {
  try {
    return typeof value === 'string' ? new URL(value, base) : undefined;
  } catch {
    return undefined;
  }
}

/** @param advice how to correct the option. */
export function invalidOption(name: string, advice: string): CarillonError {
  return new CarillonError('invalid_options', `Invalid option "${name}": ${advice}.`);
}
