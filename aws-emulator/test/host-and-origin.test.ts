import type { IncomingHttpHeaders } from 'node:http';
import { isAllowedRequest } from '../host-and-origin.ts';

const host = { host: 'localhost:4000' };
const isAllowed = (headers: IncomingHttpHeaders) =>
  isAllowedRequest({ headers, socket: { localPort: 4000 } });

test.each<[string, IncomingHttpHeaders]>([
  ['a tool', host],
  ['a tool that uses 127.0.0.1', { host: '127.0.0.1:4000' }],
  ['its page', { ...host, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }],
  ['its page with an Origin header', { ...host, origin: 'http://localhost:4000' }],
  ['the address bar', { ...host, 'sec-fetch-site': 'none' }],
  [
    'Firefox for its push messages',
    { host: '127.0.0.1:4000', origin: 'ws://127.0.0.1:4000/', 'sec-fetch-site': 'none' },
  ],
])('a request of %s is allowed', (_, headers) => {
  expect(isAllowed(headers)).toBe(true);
});

test.each<[string, IncomingHttpHeaders]>([
  ['to another host', { host: 'evil.example' }],
  ['to another host on this port', { host: 'evil.example:4000' }],
  [
    'of a page whose name resolves to this machine',
    { host: 'evil.example:4000', origin: 'http://evil.example:4000' },
  ],
  ['to another port', { host: 'localhost:4001' }],
  ['without a host', {}],
  ['from a page of another site', { ...host, origin: 'https://evil.example' }],
  ['from a page on another port', { ...host, origin: 'http://localhost:3000' }],
  ['from a page on another loopback address', { ...host, origin: 'http://127.0.0.1:4000' }],
  ['from a page with an opaque origin', { ...host, origin: 'null' }],
  ['by a fetch from another site', { ...host, 'sec-fetch-site': 'cross-site' }],
  ['by a fetch from another port', { ...host, 'sec-fetch-site': 'same-site' }],
  [
    'by a navigation from another site',
    { ...host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  ],
])('a request %s is refused', (_, headers) => {
  expect(isAllowed(headers)).toBe(false);
});
