import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { useService } from '../fixtures/service.ts';

const service = useService();

/** Without the decompression of `fetch`. */
async function get(path: string, headers: Record<string, string> = {}) {
  const sent = request(service.stack.baseUrl + path, { headers }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}

test('the deployed bundle serves a page whose files exist, for those who accept gzip and for others', async () => {
  const page = await get('/console', { 'accept-encoding': 'gzip, br' });
  expect(page).toMatchObject({
    status: 200,
    headers: {
      'content-encoding': 'gzip',
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    },
  });
  const html = gunzipSync(page.body).toString();
  expect((await get('/console')).body.toString()).toBe(html);
  const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file!);
  const loaded = files.filter((file) => !file.startsWith('data:'));
  expect(loaded.length).toBeGreaterThanOrEqual(2);
  for (const file of loaded) {
    expect(file).toMatch(/^\/console\/[\w-]+-[\w-]{8}\.\w+$/);
    expect(await get(file)).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'public, max-age=31536000, immutable' },
    });
  }
});

test('the whole page is below 250 kB, compressed', async () => {
  const gzip = { 'accept-encoding': 'gzip' };
  const page = await get('/console', gzip);
  const html = gunzipSync(page.body).toString();
  const files = [...html.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, file]) => file!);
  const sizes = await Promise.all(files.map(async (file) => (await get(file, gzip)).body.length));
  const total = sizes.reduce((sum, size) => sum + size, page.body.length);
  expect(total).toBeGreaterThan(50_000);
  expect(total).toBeLessThan(250_000);
});
