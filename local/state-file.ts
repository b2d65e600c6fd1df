import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { clientVariables } from '../contract/infrastructure/client-variables.ts';
import { version } from '../package.json' with { type: 'json' };
import type { SettingValues, Stack, TableNames } from './stack.ts';

/** The addresses and keys of the running stack, for tools and tests. */
export const stateFile = '.carillon/local.json';

/** Beside a state file: the same as variables of a shell. */
export const shellFileOf = (file: string) => file.replace(/\.json$/, '.env');

export interface LocalState {
  readonly baseUrl: string;
  /** Origin of the local push service. */
  readonly pushService: string;
  readonly dynamodb: { readonly endpoint: string; readonly tables: TableNames };
  /** Address of the Lambda API, and the names of the functions. */
  readonly lambda: { readonly endpoint: string; readonly functions: readonly string[] };
  readonly settings: SettingValues;
  /** Version of Carillon. */
  readonly version: string;
  readonly project: {
    readonly projectId: string;
    readonly applicationServerKey: string;
    readonly secretKey: string;
    readonly identityKey: string;
  };
}

/** The state of a running stack. */
export function stateOf(stack: Stack, project: LocalState['project']): LocalState {
  const { baseUrl, pushService, dynamodb, lambdaEndpoint, functions, settings } = stack;
  const { endpoint, tables } = dynamodb;
  return {
    baseUrl,
    pushService: pushService.origin,
    dynamodb: { endpoint, tables },
    lambda: { endpoint: lambdaEndpoint, functions: [...functions.keys()] },
    settings,
    version,
    project,
  };
}

/**
 * Writes the state as JSON and, for the examples of the documentation, as variables in `local.env`, exported to
 * programs that the shell starts. Only the owner can read the files, since they contain keys.
 * @returns a function that removes both files, unless another stack has replaced them.
 */
export async function writeState(
  state: LocalState,
  file = stateFile,
): Promise<() => Promise<void>> {
  const files: readonly (readonly [path: string, text: string])[] = [
    [file, `${JSON.stringify(state, null, 2)}\n`],
    [shellFileOf(file), shellVariables(state)],
  ];
  await mkdir(dirname(file), { recursive: true });
  for (const [path, text] of files) {
    // `mode` has no effect on an existing file.
    await rm(path, { force: true });
    await writeFile(path, text, { mode: 0o600 });
  }
  return async () => {
    for (const [path, text] of files) {
      const current = await readFile(path, 'utf8').catch(() => undefined);
      if (current === text) await rm(path);
    }
  };
}

function shellVariables({ baseUrl, pushService, project }: LocalState): string {
  const variables = {
    [clientVariables.baseUrl]: baseUrl,
    [clientVariables.projectId]: project.projectId,
    [clientVariables.applicationServerKey]: project.applicationServerKey,
    [clientVariables.secretKey]: project.secretKey,
    [clientVariables.identityKey]: project.identityKey,
    CARILLON_PUSH_SERVICE: pushService,
  };
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value}'\n`)
    .join('');
}
