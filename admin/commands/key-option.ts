import { Option } from 'commander';
import { clientVariables } from '../../contract/client-variables.ts';
import { secretKeyPattern } from '../../contract/formats.ts';
import { readSecret } from '../terminal/read-secret.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { CommandError } from './command.ts';

/** Where the commands that call the service read the secret key from, unless a file is given. */
export const keyVariable = clientVariables.secretKey;

export interface KeyOptions {
  readonly keyFile?: string;
}

export function keyFileOption(): Option {
  return new Option('--key-file <file>', 'file with the secret key; - reads standard input');
}

/** @throws {CommandError} */
export async function readKey(
  { keyFile }: KeyOptions,
  env: NodeJS.ProcessEnv,
  input: Terminal['input'],
): Promise<string> {
  // A variable that was read from a file may end with a line feed.
  const key = keyFile === undefined ? env[keyVariable]?.trim() : await readSecret(keyFile, input);
  if (key === undefined) {
    throw new CommandError(
      'missing_secret_key',
      `Set ${keyVariable} to the project's secret key, or give a file with --key-file.`,
    );
  }
  if (secretKeyPattern.test(key)) return key;
  throw new CommandError(
    'malformed_secret_key',
    'This is not a secret key: it starts with carillon_sk_ and has 55 characters.',
  );
}
