import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { GatewayResponse } from 'aws-emulator/gateway';
import { refusalText } from 'aws-emulator/loopback';

const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  map: 'application/json',
  json: 'application/json',
};

/** @param name whose extension tells the media type. */
export function fileResponse(
  name: string,
  contents: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): GatewayResponse {
  return {
    status,
    headers: {
      'content-type': mediaTypes[name.slice(name.lastIndexOf('.') + 1)]!,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      ...headers,
    },
    body: Buffer.from(contents),
  };
}

export function jsonResponse(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): GatewayResponse {
  return fileResponse('.json', Buffer.from(JSON.stringify(body)), headers, status);
}

/** The response to a request of another site. */
export const forbidden = jsonResponse(403, { message: refusalText });

const retryAfterSeconds = '1';

const startingPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="refresh" content="${retryAfterSeconds}">
    <title>Carillon is starting</title>
  </head>
  <body>
    <p>Carillon is starting. This page reloads by itself.</p>
  </body>
</html>
`;

/** The response while the stack starts: 503, for `GET /` with a page that reloads itself. */
export function startingResponse({ method, url }: IncomingMessage): GatewayResponse {
  const isPage = method === 'GET' && /^\/(\?|$)/.test(url ?? '');
  const body = isPage ? startingPage : JSON.stringify({ message: 'Service Unavailable' });
  return {
    status: 503,
    headers: {
      'content-type': isPage ? 'text/html; charset=utf-8' : 'application/json',
      'cache-control': 'no-store',
      'retry-after': retryAfterSeconds,
    },
    body: Buffer.from(body),
  };
}

/**
 * Makes the reference page from openapi.json, which takes about a second. It contains its scripts.
 * @param root root directory of the repository.
 * @param baseUrl address of the service that the page names.
 * @throws {Error} if the document cannot be read.
 */
export async function referencePage(root: string, baseUrl: string): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-docs-'));
  try {
    const [document, file] = [join(folder, 'openapi.json'), join(folder, 'docs.html')];
    const description = JSON.parse(await readFile(join(root, 'openapi.json'), 'utf8'));
    await writeFile(document, JSON.stringify({ ...description, servers: [{ url: baseUrl }] }));
    const redocly = join(root, 'node_modules/@redocly/cli/bin/cli.js');
    // Its settings are in redocly.yaml.
    const parameters = ['build-docs', document, '--inlineBundle', '--output', file];
    await promisify(execFile)(process.execPath, [redocly, ...parameters], { cwd: root });
    const page = await readFile(file, 'utf8');
    // Redocly's logo, which the policy of the page would block. An image that fails is left out.
    return Buffer.from(page.replaceAll(/https:\/\/cdn\.redoc\.ly\/[\w./-]+/g, 'data:,'));
  } finally {
    await rm(folder, { recursive: true });
  }
}
