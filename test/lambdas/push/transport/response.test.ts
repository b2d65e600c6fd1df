import fc from 'fast-check';
import {
  bodyLimitBytes,
  NoResponseError,
  readResponse,
} from '../../../../lambdas/push/transport/response.ts';

const lines = (...text: string[]) => text.join('\r\n');

const created = lines('HTTP/1.1 201 Created', 'Location: /message/1', 'Content-Length: 0', '', '');

test('a response has a status, and headers with lower-case names', () => {
  expect(readResponse(created)).toEqual({
    response: {
      status: 201,
      headers: { location: '/message/1', 'content-length': '0' },
      body: '',
    },
    complete: true,
    reusable: true,
  });
});

test.each([
  ['a length', lines('HTTP/1.1 410 Gone', 'content-length:4', '', 'über'), 'über'.length],
  [
    'chunks',
    lines('HTTP/1.1 410 Gone', 'Transfer-Encoding: chunked', '', '2;x=1', 'ab', 'A', '0123456789') +
      lines('', '0', '', ''),
    12,
  ],
  ['no body', lines('HTTP/1.1 204 No Content', '', ''), 0],
  [
    'an interim response before it',
    `${lines('HTTP/1.1 103 Early Hints', 'Link: </x>', '', '')}${created}`,
    0,
  ],
])('a response with %s is complete at its last byte', (_, text, length) => {
  for (let end = 0; end < text.length; end += 1) {
    expect(readResponse(text.slice(0, end))?.complete ?? false).toBe(false);
  }
  const read = readResponse(text)!;
  expect(read).toMatchObject({ complete: true, reusable: true });
  expect(read.response.body).toHaveLength(length);
});

test('a body is decoded as UTF-8', () => {
  const body = Buffer.from('Schlüssel passt nicht').toString('latin1');
  const text = lines('HTTP/1.1 400 Bad Request', `Content-Length: ${body.length}`, '', body);
  expect(readResponse(text)!.response.body).toBe('Schlüssel passt nicht');
});

/** RFC 9112 §5: whoever reads one of them differently finds another end of the response. */
const malformedFields: readonly [what: string, field: string][] = [
  ['a folded field', ' chunked'],
  ['a folded field with a colon', '\tTransfer-Encoding: chunked'],
  ['a space before a colon', 'Transfer-Encoding : chunked'],
  ['a CR in a field', 'Y: z\rTransfer-Encoding: chunked'],
  ['a LF in a field', 'Y: z\nTransfer-Encoding: chunked'],
  ['a NUL in a field', 'Y: z\0'],
  ['a name that is no token', 'Transfer Encoding: chunked'],
];

test.each([
  [
    'has Connection: close',
    lines('HTTP/1.1 201 Created', 'Connection: Close', 'Content-Length: 0', '', ''),
  ],
  ['is followed by more bytes', `${created}HTTP/1.1 200 OK`],
  [
    'has a length and chunks',
    lines('HTTP/1.1 200 OK', 'Content-Length: 3', 'Transfer-Encoding: chunked', '', '0', '', ''),
  ],
  [
    'closes the connection with its second field of that name',
    lines('HTTP/1.1 200 OK', 'Connection: keep-alive', 'Connection: close', 'Content-Length: 0') +
      lines('', '', ''),
  ],
  ...malformedFields.map(([what, field]): [string, string] => [
    `has ${what}`,
    lines('HTTP/1.1 200 OK', 'X: y', field, 'Content-Length: 0', '', ''),
  ]),
  ['has a CR in its reason', lines('HTTP/1.1 200 O\rK', 'Content-Length: 0', '', '')],
  [
    'has a CR in the extension of a chunk',
    lines('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '0;a\rb', '', ''),
  ],
  [
    'has trailers',
    lines('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '0', 'Trailer: x', '', ''),
  ],
  [
    'has a body over the limit',
    lines('HTTP/1.1 400 No', 'Content-Length: 9999', '', 'x'.repeat(bodyLimitBytes)),
  ],
  [
    'has chunks over the limit',
    lines('HTTP/1.1 400 No', 'Transfer-Encoding: chunked', '', 'ffff', 'x'.repeat(bodyLimitBytes)),
  ],
])('a connection is not reused after a response that %s', (_, text) => {
  const read = readResponse(text)!;
  expect(read).toMatchObject({ complete: true, reusable: false });
  expect(read.response.body.length).toBeLessThanOrEqual(bodyLimitBytes);
});

test.each([
  ['no length', lines('HTTP/1.1 503 Busy', '', 'later')],
  [
    'an unsupported transfer coding',
    lines('HTTP/1.1 503 Busy', 'Transfer-Encoding: gzip', '', 'later'),
  ],
  [
    'another transfer coding after chunks',
    lines('HTTP/1.1 503 Busy', 'Transfer-Encoding: chunked', 'Transfer-Encoding: x', '', 'later'),
  ],
])('a response with %s ends when its connection closes', (_, text) => {
  expect(readResponse(text)).toMatchObject({
    response: { status: 503, body: 'later' },
    complete: false,
  });
});

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
  ['another version', 'HTTP/1.0 200 OK\r\n\r\n'],
  ['an invalid status', 'HTTP/1.1 2xx OK\r\n\r\n'],
  ['a header without a name', lines('HTTP/1.1 200 OK', ': x', '', '')],
  ['two lengths', lines('HTTP/1.1 200 OK', 'Content-Length: 1', 'content-length: 2', '', '')],
  ['an invalid length', lines('HTTP/1.1 200 OK', 'Content-Length: +1', '', '')],
  ['a chunk without a size', lines('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', 'x', '')],
  [
    'a chunk longer than its size',
    lines('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '1', 'ab', ''),
  ],
])('a response with %s is malformed', (_, text) => {
  expect(() => readResponse(text)).toThrow(NoResponseError);
});

test('any text is parsed, or refused with a message of readResponse', () => {
  const pieces = fc.constantFrom(
    'HTTP/1.1 ',
    '200',
    '\r\n',
    ': ',
    'Content-Length',
    'chunked',
    '5',
    'x',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 20 }), (parts) => {
      try {
        readResponse(parts.join(''));
      } catch (error) {
        expect((error as Error).message).toMatch(/^(Malformed|The response) /);
      }
    }),
  );
});
