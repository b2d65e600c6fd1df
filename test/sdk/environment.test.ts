import { unsupportedReason } from '../../sdk/client/environment.ts';

const serviceWorker = {};
const push = { PushManager: class {}, Notification: { permission: 'default' } };
const secure = {
  location: { protocol: 'https:' },
  AbortSignal,
  isSecureContext: true,
  top: { location: { href: 'https://shop.example/' } },
  sessionStorage: {},
};
const chrome = { ...secure, navigator: { serviceWorker }, ...push };

test.each([
  ['a browser with push', chrome, undefined],
  ['a file', { ...chrome, location: { protocol: 'file:' } }, 'no_origin'],
  ['a browser without `AbortSignal.timeout`', { ...chrome, AbortSignal: {} }, 'no_push'],
  ['an http page', { ...chrome, isSecureContext: false }, 'insecure_context'],
  ['a browser without service workers', { ...chrome, navigator: {} }, 'no_push'],
  [
    'a browser without the Push API',
    { ...secure, navigator: { serviceWorker }, Notification: push.Notification },
    'no_push',
  ],
  ['a page with another `Notification`', { ...chrome, Notification: class {} as never }, 'no_push'],
  [
    'a tab on iOS',
    { ...secure, navigator: { serviceWorker, standalone: false } },
    'ios_not_installed',
  ],
  [
    'a site on the home screen of iOS',
    { ...chrome, navigator: { serviceWorker, standalone: true } },
    undefined,
  ],
  [
    'a site on the home screen of iOS 16.3',
    { ...secure, navigator: { serviceWorker, standalone: true } },
    'no_push',
  ],
])('%s: the reason is %p', (_, page, reason) => {
  expect(unsupportedReason(page)).toBe(reason);
});

function deniedBy(page: object, name: string): typeof chrome {
  const get = () => {
    throw new DOMException('', 'SecurityError');
  };
  return Object.defineProperty({ ...page }, name, { get }) as typeof chrome;
}

test('a page without an http address is not asked for anything else', () => {
  const page = { location: { protocol: 'app:' } } as typeof chrome;
  expect(unsupportedReason(page)).toBe('no_origin');
});

test('a page in a frame of another site: the reason is "embedded"', () => {
  const top = { location: deniedBy({}, 'href') as never };
  expect(unsupportedReason({ ...chrome, top })).toBe('embedded');
});

test('a browser that blocks storage: the reason is "storage_denied"', () => {
  expect(unsupportedReason(deniedBy(chrome, 'sessionStorage'))).toBe('storage_denied');
});
