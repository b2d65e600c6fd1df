import middy from '@middy/core';
import * as z from 'zod';
import { jsonBody, prefersAsync } from '../../../lambdas/http/read-input.ts';
import { errorResponses, respond } from '../../../lambdas/http/response.ts';

const limitBytes = 1_000_000;

function handlerOf(mediaTypes?: readonly string[]) {
  return middy()
    .use(errorResponses())
    .handler(async (event) =>
      respond(200, jsonBody(event, z.object({ title: z.string() }), limitBytes, mediaTypes)),
    );
}

async function respondTo(
  body: Buffer | string | undefined,
  contentType = 'application/json',
  mediaTypes?: readonly string[],
) {
  const event = {
    headers: { 'content-type': contentType },
    requestContext: { requestId: 'r' },
    body: Buffer.isBuffer(body) ? body.toString('base64') : body,
    isBase64Encoded: Buffer.isBuffer(body),
  };
  const response = await handlerOf(mediaTypes)(event as never, {} as never);
  return { status: response.statusCode, body: JSON.parse(response.body!) };
}

test('a base64 body is decoded as UTF-8', async () => {
  const { status, body } = await respondTo(Buffer.from('{"title":"é"}'));
  expect({ status, body }).toEqual({ status: 200, body: { title: 'é' } });
});

test.each([
  ['invalid UTF-8', Buffer.from('{"title":"\xff"}', 'latin1')],
  ['gzip', Buffer.of(0x1f, 0x8b, 8, 0)],
  ['an empty body', Buffer.alloc(0)],
  ['a missing body', undefined],
  ['200,000 open brackets', '['.repeat(200_000)],
])('%s is invalid JSON', async (_, body) => {
  const response = await respondTo(body);
  expect(response.status).toBe(400);
  expect(response.body.error.code).toBe('invalid_json');
});

test.each([
  ['text/plain;charset=UTF-8', undefined, 415],
  ['text/plain;charset=UTF-8', ['application/json', 'text/plain'], 200],
  ['text/html', ['application/json', 'text/plain'], 415],
])(
  'a body of the type "%s" where the route accepts %j: %i',
  async (contentType, accepted, status) => {
    expect((await respondTo('{"title":"t"}', contentType, accepted)).status).toBe(status);
  },
);

test.each([
  ['text', (body: string) => body],
  ['base64', (body: string) => Buffer.from(body)],
])('a body may have the limit, and not one byte more, as %s', async (_, encoded) => {
  const overhead = '{"title":""}'.length;
  const within = `{"title":"${'é'.repeat((limitBytes - overhead) / 2)}"}`;
  expect((await respondTo(encoded(within))).status).toBe(200);
  const { status, body } = await respondTo(encoded(`${within} `));
  expect({ status, error: body.error }).toEqual({
    status: 413,
    error: {
      code: 'payload_too_large',
      message: 'The body has 1000001 bytes; this route takes at most 1000000.',
    },
  });
});

test('a deeply nested unknown field is ignored', async () => {
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
  expect((await respondTo(`{"title":"t","x":${deep}}`)).status).toBe(200);
});

test.each([
  ['respond-async', true],
  ['Respond-Async', true],
  ['handling=lenient, respond-async; x=1', true],
  ['respond-async, wait=10', true],
  ['wait=10', false],
  ['respond-asynchronously', false],
  ['handling="respond-async"', false],
  ['', false],
  [undefined, false],
])('the header "Prefer: %s" asks for an asynchronous response: %p', (prefer, isAsync) => {
  expect(prefersAsync({ headers: { prefer } } as never)).toBe(isAsync);
});
