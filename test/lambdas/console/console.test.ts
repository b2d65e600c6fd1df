import { gunzipSync, gzipSync } from 'node:zlib';
import { consoleResponse } from '../../../lambdas/console/console.ts';

const page = '<!doctype html><p>Console</p>';
const files = new Map(
  Object.entries({
    'index.html': page,
    'index-Ab12.js': 'start()',
    'index-Ab12.css': 'p {}',
    'bell-Ab12.svg': '<svg/>',
  }).map(([name, text]) => [name, gzipSync(text)]),
);

test('everybody gets the page compressed', () => {
  const { headers, body } = consoleResponse(files, undefined);
  expect(headers).toMatchObject({ 'Content-Encoding': 'gzip' });
  expect(gunzipSync(Buffer.from(body!, 'base64')).toString()).toBe(page);
});

test('browsers ask again for the page, and keep the files, whose names have a hash', () => {
  const cacheOf = (file?: string) => consoleResponse(files, file).headers!['Cache-Control'];
  expect(cacheOf()).toBe('no-cache');
  expect(cacheOf('index-Ab12.js')).toBe('public, max-age=31536000, immutable');
});

test.each([
  [undefined, 'text/html; charset=utf-8'],
  ['index-Ab12.js', 'text/javascript; charset=utf-8'],
  ['index-Ab12.css', 'text/css; charset=utf-8'],
  ['bell-Ab12.svg', 'image/svg+xml'],
])('%s has the media type %s', (file, mediaType) => {
  expect(consoleResponse(files, file)).toMatchObject({
    statusCode: 200,
    headers: { 'Content-Type': mediaType },
  });
});

test.each(['nothing.js', 'index.html', 'index-Ab12.js.gz', '__proto__', '../handler.ts', ''])(
  'the unknown file "%s" is 404, and not cached',
  (file) => {
    expect(consoleResponse(files, file)).toMatchObject({
      statusCode: 404,
      headers: { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' },
      body: '{"message":"Not Found"}',
    });
  },
);

test.each([undefined, 'index-Ab12.js', 'nothing'])('%s has the strict headers', (file) => {
  const { headers } = consoleResponse(files, file);
  const policy = String(headers!['Content-Security-Policy']).split('; ');
  expect(policy).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    'img-src https: data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
  expect(headers).toMatchObject({
    'X-Content-Type-Options': 'nosniff',
    'Strict-Transport-Security': 'max-age=31536000',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
  });
});
