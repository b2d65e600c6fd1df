import { unsupportedReason } from '../../sdk/client/environment.ts';

const serviceWorker = {};
const push = { PushManager: class {}, Notification: class {} };
const chrome = { isSecureContext: true, navigator: { serviceWorker }, ...push };

test.each([
  ['a browser with push', chrome, undefined],
  ['an http page', { ...chrome, isSecureContext: false }, 'insecure_context'],
  ['a browser without service workers', { ...chrome, navigator: {} }, 'no_push'],
  [
    'a browser without the Push API',
    { isSecureContext: true, navigator: { serviceWorker }, Notification: class {} },
    'no_push',
  ],
  [
    'a tab on iOS',
    { isSecureContext: true, navigator: { serviceWorker, standalone: false } },
    'ios_not_installed',
  ],
  [
    'a site on the home screen of iOS',
    { ...chrome, navigator: { serviceWorker, standalone: true } },
    undefined,
  ],
  [
    'a site on the home screen of iOS 16.3',
    { isSecureContext: true, navigator: { serviceWorker, standalone: true } },
    'no_push',
  ],
])('%s: the reason is %p', (_, page, reason) => {
  expect(unsupportedReason(page)).toBe(reason);
});
