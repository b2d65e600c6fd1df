import { createHash } from 'node:crypto';
import middy from '@middy/core';
import { throughProxy } from '../../../lambdas/http/request.ts';
import { respond } from '../../../lambdas/http/response.ts';

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

test.each<[string, Record<string, string>]>([
  ['no secret', {}],
  ['an empty secret', { 'x-origin-secret': '' }],
])('a request with %s is direct, even if the hash is that of the empty text', async (_, sent) => {
  const handler = middy()
    .use(throughProxy({ hashes: [hashOf('')], isRequired: true }))
    .handler(async () => respond(200, {}));
  const event = {
    headers: { 'x-forwarded-for': '203.0.113.7, 192.0.2.1', ...sent },
    requestContext: { http: { sourceIp: '192.0.2.1' } },
  };
  await expect(handler(event as never, {} as never)).rejects.toMatchObject({
    code: 'direct_request',
  });
});
