import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { TableNames } from '../dynamodb/table-names.ts';

/** Where tools and tests find the running stack. */
export const stateFile = '.carillon/local.json';

export interface LocalState {
  readonly baseUrl: string;
  /** Origin of the local push service. */
  readonly pushService: string;
  readonly dynamodb: { readonly endpoint: string; readonly tables: TableNames };
  readonly project: {
    readonly projectId: string;
    readonly applicationServerKey: string;
    readonly secretApiKey: string;
  };
}

/**
 * Writes the state, for its owner's eyes only: it holds a secret key. Beside the JSON lies what a
 * shell needs for the examples of the documentation, as `local.env`.
 * @returns removes both, unless another stack has put its own there since.
 */
export async function writeState(
  state: LocalState,
  file = stateFile,
): Promise<() => Promise<void>> {
  const files: readonly (readonly [path: string, text: string])[] = [
    [file, `${JSON.stringify(state, null, 2)}\n`],
    [file.replace(/\.json$/, '.env'), shellVariables(state)],
  ];
  await mkdir(dirname(file), { recursive: true });
  for (const [path, text] of files) {
    // A mode is given to a new file only.
    await rm(path, { force: true });
    await writeFile(path, text, { mode: 0o600 });
  }
  return async () => {
    for (const [path, text] of files) {
      const present = await readFile(path, 'utf8').catch(() => undefined);
      if (present === text) await rm(path);
    }
  };
}

function shellVariables({ baseUrl, pushService, project }: LocalState): string {
  const variables = {
    BASE: baseUrl,
    PROJECT: project.projectId,
    APPLICATION_SERVER_KEY: project.applicationServerKey,
    SECRET_KEY: project.secretApiKey,
    PUSH_SERVICE: pushService,
  };
  return Object.entries(variables)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join('');
}
