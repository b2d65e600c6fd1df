import middy from '@middy/core';
import * as z from 'zod';
import { errorResponses } from '../../../lambdas/http/error-responses.ts';
import { jsonBody } from '../../../lambdas/http/read-input.ts';
import { respond } from '../../../lambdas/http/response.ts';

const limitBytes = 1_000_000;

const handler = middy()
  .use(errorResponses())
  .use(jsonBody(z.object({ title: z.string() }), limitBytes))
  .handler(async ({ input }) => respond(200, input));

async function answerTo(body: Buffer | string | undefined, contentType = 'application/json') {
  const event = {
    headers: { 'content-type': contentType },
    requestContext: { requestId: 'r' },
    body: Buffer.isBuffer(body) ? body.toString('base64') : body,
    isBase64Encoded: Buffer.isBuffer(body),
  };
  const answer = await handler(event as never, {} as never);
  return { status: answer.statusCode, body: JSON.parse(answer.body!) };
}

test('a body that the gateway passes in base64 is read as UTF-8', async () => {
  const { status, body } = await answerTo(Buffer.from('{"title":"é"}'));
  expect({ status, body }).toEqual({ status: 200, body: { title: 'é' } });
});

test.each([
  ['bytes that are no UTF-8', Buffer.from('{"title":"\xff"}', 'latin1')],
  ['compressed bytes', Buffer.of(0x1f, 0x8b, 8, 0)],
  ['nothing', Buffer.alloc(0)],
  ['no body', undefined],
  ['nesting without end', '['.repeat(200_000)],
])('%s are no JSON', async (_, body) => {
  const answer = await answerTo(body);
  expect(answer.status).toBe(400);
  expect(answer.body.error.code).toBe('invalid_json');
});

test.each([
  ['text', (body: string) => body],
  ['base64', (body: string) => Buffer.from(body)],
])('a body of the limit is read and one of a byte more is not, as %s', async (_, encoded) => {
  const overhead = '{"title":""}'.length;
  const within = `{"title":"${'é'.repeat((limitBytes - overhead) / 2)}"}`;
  expect((await answerTo(encoded(within))).status).toBe(200);
  const { status, body } = await answerTo(encoded(`${within} `));
  expect({ status, error: body.error }).toEqual({
    status: 413,
    error: {
      code: 'payload_too_large',
      message: 'The body has 1000001 bytes; this route takes at most 1000000.',
    },
  });
});

test('what is nested deep and not asked for is ignored', async () => {
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
  expect((await answerTo(`{"title":"t","x":${deep}}`)).status).toBe(200);
});
