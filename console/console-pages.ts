import type { IncomingMessage } from 'node:http';
import { type ConsoleFile, pageFiles, rebuiltPath } from './console-files.ts';
import { isAllowedRequest, refusalText } from './host-and-origin.ts';
import { referencePage } from './reference-page.ts';
import { type ConsoleSettings, settingsPath } from './settings.ts';

export interface ConsoleResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Responds to a request for a page. Undefined if the console does not serve its path. */
export type ConsolePages = (request: IncomingMessage) => Promise<ConsoleResponse | undefined>;

export interface ConsolePagesOptions {
  /** Root directory of the repository. */
  readonly root: string;
  readonly settings: () => Promise<ConsoleSettings>;
  /** Further files, by path. */
  readonly files?: ReadonlyMap<string, ConsoleFile>;
  /** Builds and loads the page again when one of its files changes, until the signal aborts. */
  readonly watch?: AbortSignal | undefined;
}

/**
 * The page calls its own origin only, and no other site can show it in a frame. Images come from
 * anywhere: the preview shows those of the notification.
 */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' http: https: data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The reference page may load nothing. */
const referencePolicy =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; worker-src blob:";

/** Serves the console's page and its settings, and the reference page at `/docs`. */
export async function consolePages({
  root,
  settings,
  files = new Map(),
  watch,
}: ConsolePagesOptions): Promise<ConsolePages> {
  const page = await pageFiles(root, watch);
  let reference: Promise<Uint8Array> | undefined;
  return async (request) => {
    const { method, url = '' } = request;
    if (method !== 'GET') return undefined;
    const [path = ''] = url.split('?');
    const file = files.get(path) ?? page.current().get(path);
    if (file !== undefined) {
      return responseOf(200, file, path === '/' ? pagePolicy : undefined);
    }
    if (path === '/docs') {
      reference ??= settings().then(({ baseUrl }) => referencePage(root, baseUrl));
      try {
        const contents = await reference;
        return responseOf(200, { type: 'text/html; charset=utf-8', contents }, referencePolicy);
      } catch (error) {
        // The next request tries again.
        reference = undefined;
        const message = `The reference page cannot be made from openapi.json: ${(error as Error).message}`;
        return jsonResponse(500, { message });
      }
    }
    if (watch !== undefined && path === rebuiltPath) {
      await page.rebuilt();
      return jsonResponse(200, {});
    }
    if (path !== settingsPath) return undefined;
    return isAllowedRequest(request) ? jsonResponse(200, await settings()) : forbidden;
  };
}

export function jsonResponse(status: number, body: object): ConsoleResponse {
  const contents = Buffer.from(JSON.stringify(body));
  return responseOf(status, { type: 'application/json', contents });
}

/** The response to a request of another site. */
export const forbidden = jsonResponse(403, { message: refusalText });

/** @param policy content security policy (CSP). */
function responseOf(
  status: number,
  { type, contents }: ConsoleFile,
  policy?: string,
): ConsoleResponse {
  return {
    status,
    headers: {
      'content-type': type,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      ...(policy !== undefined && { 'content-security-policy': policy }),
    },
    body: Buffer.from(contents),
  };
}
