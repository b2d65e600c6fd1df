import fc from 'fast-check';
import { bodyLimitBytes, readResponse } from '../../../../lambdas/push/transport/read-response.ts';

const lines = (...text: string[]) => text.join('\r\n');

const created = lines('HTTP/1.1 201 Created', 'Location: /message/1', 'Content-Length: 0', '', '');

test('reads status and headers, their names in lower case', () => {
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
  ['no body at all', lines('HTTP/1.1 204 No Content', '', ''), 0],
  [
    'an interim answer ahead',
    `${lines('HTTP/1.1 103 Early Hints', 'Link: </x>', '', '')}${created}`,
    0,
  ],
])('an answer with %s is complete at its last byte and not before', (_, text, length) => {
  for (let end = 0; end < text.length; end += 1) {
    expect(readResponse(text.slice(0, end))?.complete ?? false).toBe(false);
  }
  const read = readResponse(text)!;
  expect(read).toMatchObject({ complete: true, reusable: true });
  expect(read.response.body).toHaveLength(length);
});

test('a body is UTF-8', () => {
  const body = Buffer.from('Schlüssel passt nicht').toString('latin1');
  const text = lines('HTTP/1.1 400 Bad Request', `Content-Length: ${body.length}`, '', body);
  expect(readResponse(text)!.response.body).toBe('Schlüssel passt nicht');
});

test.each([
  [
    'says that it closes',
    lines('HTTP/1.1 201 Created', 'Connection: Close', 'Content-Length: 0', '', ''),
  ],
  ['is followed by what nobody asked for', `${created}HTTP/1.1 200 OK`],
  [
    'has a length and chunks',
    lines('HTTP/1.1 200 OK', 'Content-Length: 3', 'Transfer-Encoding: chunked', '', '0', '', ''),
  ],
  [
    'has trailers',
    lines('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '0', 'Trailer: x', '', ''),
  ],
  [
    'has a longer body than is wanted',
    lines('HTTP/1.1 400 No', 'Content-Length: 9999', '', 'x'.repeat(bodyLimitBytes)),
  ],
  [
    'has more chunks than are wanted',
    lines('HTTP/1.1 400 No', 'Transfer-Encoding: chunked', '', 'ffff', 'x'.repeat(bodyLimitBytes)),
  ],
])('a connection is not used again after an answer that %s', (_, text) => {
  const read = readResponse(text)!;
  expect(read).toMatchObject({ complete: true, reusable: false });
  expect(read.response.body.length).toBeLessThanOrEqual(bodyLimitBytes);
});

test.each([
  ['no length', lines('HTTP/1.1 503 Busy', '', 'later')],
  ['a coding it does not know', lines('HTTP/1.1 503 Busy', 'Transfer-Encoding: gzip', '', 'later')],
])('an answer with %s ends with its connection', (_, text) => {
  expect(readResponse(text)).toMatchObject({
    response: { status: 503, body: 'later' },
    complete: false,
  });
});

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
  ['another version', 'HTTP/1.0 200 OK\r\n\r\n'],
  ['no status', 'HTTP/1.1 2xx OK\r\n\r\n'],
  ['a header without a name', lines('HTTP/1.1 200 OK', ': x', '', '')],
  ['two lengths', lines('HTTP/1.1 200 OK', 'Content-Length: 1', 'content-length: 2', '', '')],
  ['a length that is none', lines('HTTP/1.1 200 OK', 'Content-Length: +1', '', '')],
  ['a chunk without a size', lines('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', 'x', '')],
  [
    'a chunk longer than it says',
    lines('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '1', 'ab', ''),
  ],
])('refuses %s', (_, text) => {
  expect(() => readResponse(text)).toThrow();
});

test('throws nothing but errors of its own, whatever comes', () => {
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
