import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { type HttpResponse, strictTransport } from '../http/response.ts';

/** The files of the page by name, each compressed. */
export type PageFiles = ReadonlyMap<string, Buffer>;

const pageName = 'index.html';

/** Reads a folder with files such as `index.html.gz`. */
export function readPageFiles(folder: string): PageFiles {
  return new Map(
    readdirSync(folder).map((name) => [
      name.replace(/\.gz$/, ''),
      readFileSync(join(folder, name)),
    ]),
  );
}

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * The page calls its own origin only, and no other site can show it in a frame. The component library writes inline
 * styles. Images come from anywhere: the preview shows those of a notification.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'img-src https: data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const safeHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'Strict-Transport-Security': strictTransport,
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/**
 * Responds with a file of the console's page. All files are public: the page asks for the key. Compressed for everybody:
 * every browser takes gzip, and a flood of requests without it would cost three times as much.
 * @param file its name, which has a hash of its content. Undefined: the page itself.
 */
export function consoleResponse(files: PageFiles, file: string | undefined): HttpResponse {
  const compressed = file === pageName ? undefined : files.get(file ?? pageName);
  if (compressed === undefined) {
    return {
      statusCode: 404,
      headers: { ...safeHeaders, 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
      body: '{"message":"Not Found"}',
    };
  }
  return {
    statusCode: 200,
    headers: {
      ...safeHeaders,
      'Content-Type': mediaTypes[extname(file ?? pageName)] ?? 'application/octet-stream',
      'Cache-Control': file === undefined ? 'no-cache' : 'public, max-age=31536000, immutable',
      'Content-Encoding': 'gzip',
    },
    body: compressed.toString('base64'),
    isBase64Encoded: true,
  };
}
