import { randomBytes } from 'node:crypto';
import { localConfig } from '../../admin/local-config.ts';
import { projectRegistry } from '../../admin/project-registry.ts';
import { projectTables } from '../../admin/project-tables.ts';
import { consoleFile } from '../../console/console-files.ts';
import {
  type ConsolePages,
  type ConsoleResponse,
  consolePages,
  jsonResponse,
} from '../../console/console-pages.ts';
import type { KnownProject } from '../../console/settings.ts';
import { documentClient } from '../../lambdas/store/dynamo.ts';
import { bundleSdk } from '../../sdk/build/bundle.ts';
import type { SimulatedProxy } from '../simulated-proxy.ts';
import type { Stack } from '../stack.ts';
import { simulatedBrowsers } from './simulated-browsers.ts';
import type { LocalState } from './state-file.ts';

/** The used fields of the running stack and its state. */
export type ConsoleStack = Pick<Stack, 'baseUrl' | 'pushService'> &
  Pick<LocalState, 'dynamodb' | 'project'> & {
    readonly proxy: SimulatedProxy;
    /** Origin of the console. */
    readonly origin: string;
  };

export interface LocalConsole {
  /** Address that opens the console. Without its token, which is new at each start, nobody gets a key. */
  readonly address: string;
  readonly respond: ConsolePages;
  stop(): void;
}

/**
 * Opens the console on the API's origin. It knows the projects of the local stack, and the secret key
 * of the demo project. It also serves the SDK, with which it subscribes the browser, and subscribes
 * simulated browsers.
 * @param root root directory of the repository.
 * @param watch builds and loads the page again when one of its files changes, until the signal aborts.
 */
export async function openLocalConsole(
  root: string,
  { baseUrl, origin, pushService, dynamodb, project, proxy }: ConsoleStack,
  watch?: AbortSignal,
): Promise<LocalConsole> {
  const dynamo = documentClient(localConfig(dynamodb.endpoint));
  const registry = projectRegistry(dynamo, projectTables(dynamodb.tables), () => new Date());

  async function knownProjects(): Promise<readonly KnownProject[]> {
    const projects: KnownProject[] = [];
    for await (const { projectId, name } of registry.list()) {
      const isDemo = projectId === project.projectId;
      projects.push({ projectId, name, ...(isDemo && { secretKey: project.secretKey }) });
    }
    // The demo project first.
    return projects.sort(
      (one, other) =>
        Number(other.secretKey !== undefined) - Number(one.secretKey !== undefined) ||
        one.projectId.localeCompare(other.projectId),
    );
  }

  const sdk = await bundleSdk(root);
  const pages = await consolePages({
    root,
    settings: async () => ({ baseUrl, local: true, projects: await knownProjects() }),
    watch,
    files: new Map(sdk.map(({ name, contents }) => [`/${name}`, consoleFile(name, contents)])),
  });
  const browsers = simulatedBrowsers(baseUrl, pushService, proxy);
  const token = randomBytes(16).toString('base64url');
  const path = `/?token=${token}`;
  const cookie = `carillon_console_${new URL(origin).port}=${token}`;
  const respond: ConsolePages = async (request) => {
    const { url = '', headers } = request;
    if (url === path) return opened(cookie);
    const isOpened = headers.cookie?.split('; ').includes(cookie);
    if (url.startsWith('/console/') && !isOpened) return notOpened;
    return (await browsers(request)) ?? (await pages(request));
  };
  return { address: origin + path, respond, stop: () => dynamo.destroy() };
}

/** The address of the page then has no token. A reload sends the cookie. */
function opened(cookie: string): ConsoleResponse {
  const { headers, ...response } = jsonResponse(303, {});
  const attributes = 'Path=/console/; HttpOnly; SameSite=Strict';
  return {
    ...response,
    headers: { ...headers, location: '/', 'set-cookie': `${cookie}; ${attributes}` },
  };
}

const notOpened = jsonResponse(403, {
  message:
    'Open the console with the address that "npm start" has printed: it has a token, new at each start.',
});
