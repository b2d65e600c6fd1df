import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pages } from 'aws-emulator/gateway';
import { isAllowedRequest } from 'aws-emulator/loopback';
import { type LocalSession, localPaths } from '../console/local-stack.ts';
import { bundleSdk } from '../sdk/build/bundle.ts';
import { fileResponse, forbidden, jsonResponse, referencePage } from './pages.ts';
import { type SimulatedProxy, simulatedBrowsers } from './simulated-browsers.ts';
import type { Stack } from './stack.ts';
import type { LocalState } from './state-file.ts';

/** The used fields of the running stack and its state. */
export type ConsoleStack = Pick<Stack, 'baseUrl' | 'pushService'> &
  Pick<LocalState, 'project'> & {
    readonly proxy: SimulatedProxy;
    /** Origin of the console. */
    readonly origin: string;
  };

export type LocalConsole = Awaited<ReturnType<typeof openLocalConsole>>;

/** The reference page may load nothing. */
const referencePolicy =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; worker-src blob:";

/**
 * What the local stack has for the console's page, which the console's function serves: the key of the demo project,
 * the SDK, with which this browser subscribes, and simulated browsers. Also the API's description and reference.
 * @param root root directory of the repository.
 */
export async function openLocalConsole(
  root: string,
  { baseUrl, origin, pushService, project, proxy }: ConsoleStack,
) {
  const { projectId, secretKey } = project;
  const session: LocalSession = { projectId, secretKey };
  const openapi = fileResponse('.json', await readFile(join(root, 'openapi.json')));
  const sdk = await bundleSdk(root);
  const files = new Map([
    ...sdk.map(({ name, contents }) => [`/${name}`, fileResponse(name, contents)] as const),
    ['/openapi.json', openapi],
  ]);
  let reference: Promise<Uint8Array> | undefined;
  const browsers = simulatedBrowsers({ baseUrl, pushService, proxy });
  const token = randomBytes(16).toString('base64url');
  const path = `/?token=${token}`;
  const cookie = `carillon_console_${new URL(origin).port}=${token}`;

  const respond: Pages = async (request) => {
    const { method, url = '', headers } = request;
    const [place = ''] = url.split('?');
    if (place.startsWith('/local/')) {
      if (!headers.cookie?.split('; ').includes(cookie)) return notOpened;
      if (!isAllowedRequest(request)) return forbidden;
      if (place === localPaths.simulatedBrowsers) return browsers.respond(request);
      if (place === localPaths.session && method === 'GET') return jsonResponse(200, session);
    }
    if (method !== 'GET') return undefined;
    if (url === path) return toPage({ 'set-cookie': `${cookie}; ${cookieAttributes}` });
    if (place === '/') return toPage({});
    if (place !== '/docs') return files.get(place);
    reference ??= referencePage(root, baseUrl);
    try {
      const policy = { 'content-security-policy': referencePolicy };
      return fileResponse('.html', await reference, policy);
    } catch (error) {
      // The next request tries again.
      reference = undefined;
      const message = `The reference page cannot be made from openapi.json: ${(error as Error).message}`;
      return jsonResponse(500, { message });
    }
  };
  return {
    /** Opens the console. Without its token, which is new at each start, nobody gets a key. */
    address: origin + path,
    /** Responds to requests that no route of the API takes. */
    respond,
    stop: browsers.stop,
  };
}

const cookieAttributes = 'Path=/local/; HttpOnly; SameSite=Strict';

/** The address of the page has no token. A reload sends the cookie. */
function toPage(headers: Readonly<Record<string, string>>) {
  return jsonResponse(303, {}, { location: '/console', ...headers });
}

const notOpened = jsonResponse(403, {
  message:
    'Open the console with the address that "npm start" has printed: it has a token, new at each start.',
});
