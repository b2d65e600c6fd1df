import { Option } from 'commander';
import { clientVariables } from '../../contract/client-variables.ts';
import { secretKeyPattern } from '../../contract/formats.ts';
import { CarillonServer } from '../../sdk/server/carillon-server.ts';
import { CommandError } from '../errors.ts';
import { readSecret } from '../terminal/read-secret.ts';
import type { Context } from './command.ts';

/** Where the commands that call the service read the secret key from, unless a file is given. */
export const keyVariable = clientVariables.secretKey;

export interface KeyOptions {
  readonly keyFile?: string;
}

export function keyFileOption(): Option {
  return new Option('--key-file <file>', 'file with the secret key; - reads standard input');
}

/**
 * The client of a project's owner.
 * @throws {ProjectNotFound}
 * @throws {CommandError} if there is no secret key.
 */
export async function openClient(
  { registry, baseUrl, terminal }: Pick<Context, 'registry' | 'baseUrl' | 'terminal'>,
  projectId: string,
  { keyFile }: KeyOptions,
  env: NodeJS.ProcessEnv,
): Promise<CarillonServer> {
  await registry.get(projectId);
  // A variable that was read from a file may end with a line feed.
  const secretKey =
    keyFile === undefined ? env[keyVariable]?.trim() : await readSecret(keyFile, terminal.input);
  if (secretKey === undefined) {
    throw new CommandError(
      'missing_secret_key',
      `Set ${keyVariable} to the project's secret key, or give a file with --key-file.`,
    );
  }
  if (!secretKeyPattern.test(secretKey)) {
    throw new CommandError(
      'malformed_secret_key',
      'This is not a secret key: it starts with carillon_sk_ and has 55 characters.',
    );
  }
  return new CarillonServer({ baseUrl, projectId, secretKey });
}
