import { gzipSync } from 'node:zlib';
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
  headers: Readonly<Record<string, string>> = {},
) {
  const event = {
    headers: { 'content-type': contentType, ...headers },
    requestContext: { requestId: 'r' },
    body: Buffer.isBuffer(body) ? body.toString('base64') : body,
    isBase64Encoded: Buffer.isBuffer(body),
  };
  const response = await handlerOf(mediaTypes)(event as never, {} as never);
  return { status: response.statusCode, body: JSON.parse(response.body!) };
}

const lengthOf = (body: Buffer | string) => ({
  'content-length': String(Buffer.byteLength(body)),
});

test('a base64 body is decoded as UTF-8', async () => {
  const { status, body } = await respondTo(Buffer.from('{"title":"é"}'));
  expect({ status, body }).toEqual({ status: 200, body: { title: 'é' } });
});

const notUtf8 = 'The body is not UTF-8; encode it as UTF-8.';
const empty = 'The body is empty; send a JSON object.';

test.each([
  ['invalid UTF-8', Buffer.from('{"title":"\xff"}', 'latin1'), notUtf8],
  ['gzip', Buffer.of(0x1f, 0x8b, 8, 0), notUtf8],
  ['an empty body', Buffer.alloc(0), empty],
  ['a missing body', undefined, empty],
  ['a body of spaces', ' \n', empty],
  ['a byte order mark alone', '\ufeff', empty],
  ['200,000 open brackets', '['.repeat(200_000), 'The body is not JSON; check quotes and commas.'],
])('%s is invalid JSON', async (_, body, message) => {
  const response = await respondTo(body);
  expect(response.status).toBe(400);
  expect(response.body.error).toEqual({ code: 'invalid_json', message });
});

test('a compressed body is called so, as text in which the gateway replaced bytes', async () => {
  const sent = gzipSync('{"title":"t"}');
  const { status, body } = await respondTo(sent.toString(), undefined, undefined, {
    'content-encoding': 'gzip',
    ...lengthOf(sent),
  });
  const message = 'The body is compressed; send it without Content-Encoding.';
  expect({ status, error: body.error }).toEqual({
    status: 400,
    error: { code: 'invalid_json', message },
  });
});

test.each([
  ['text', (body: string) => body],
  ['base64', (body: string) => Buffer.from(body)],
])('a leading byte order mark is ignored, as %s', async (_, encoded) => {
  const { status, body } = await respondTo(encoded('\ufeff{"title":"\ufeffé"}'));
  expect({ status, body }).toEqual({ status: 200, body: { title: '\ufeffé' } });
});

test('bytes that the gateway replaced because they are not UTF-8 are refused', async () => {
  const sent = Buffer.from('{"title":"caf\xe9"}', 'latin1');
  const asReplaced = await respondTo(sent.toString(), undefined, undefined, lengthOf(sent));
  expect(asReplaced).toMatchObject({ status: 400, body: { error: { message: notUtf8 } } });
  const title = 'caf\ufffd';
  const body = JSON.stringify({ title });
  const asSent = await respondTo(body, undefined, undefined, lengthOf(body));
  expect(asSent).toEqual({ status: 200, body: { title } });
});

test.each([
  ['text/plain;charset=UTF-8', undefined, 415],
  ['text/plain;charset=UTF-8', ['application/json', 'text/plain'], 200],
  ['text/html', ['application/json', 'text/plain'], 415],
  ['application/json; charset=UTF-8', undefined, 200],
  ['application/json; charset="utf8"; x=1', undefined, 200],
  ['application/json; charset=iso-8859-1', undefined, 415],
  ['application/json;x=1; Charset = "utf-16"', undefined, 415],
  ['text/plain;charset=windows-1252', ['application/json', 'text/plain'], 415],
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
