import { englishHelp } from '../bell/texts.ts';
import { unusableText } from '../client/service-worker.ts';

export const english = {
  ...englishHelp,
  page: 'page',
  permission: 'permission',
  'service worker': 'service worker',
  subscription: 'subscription',
  'push service': 'push service',
  registration: 'registration',
  system: 'system',
  supported: 'This page can receive pushes.',
  insecure: 'This page is not https. Open it at an https address.',
  noPush:
    'This browser has no push on this page. It may be a private window, an in-app browser, or turned off in the settings. Open the page in a normal window of the browser.',
  allowed: 'Notifications are allowed.',
  notAsked:
    'Nobody has been asked yet, or the question was closed. Subscribe on this site, and allow notifications.',
  /** `{file}`: URL of the service worker. */
  workerActive: '{file} is active.',
  workerInactive: 'The service worker is not active yet. Reload the page.',
  /** `{response}`: status and type of the response. */
  workerFile: unusableText('{file}', '{response}'),
  /** `{scopes}`: those of all workers of the site. */
  workerMissing:
    'No service worker has the scope {scope}. Scopes on this site: {scopes}. Subscribe on this site.',
  workerOther:
    '{other} has the scope {scope}, in place of {file}. Two workers cannot share a scope: give one of them another, or import carillon-sw.js in the other one.',
  subscribed: 'This browser is subscribed.',
  notSubscribed: 'This browser is not subscribed. Subscribe on this site.',
  otherKey:
    'This browser is subscribed with another application server key, perhaps that of another sender. Subscribe on this site again.',
  /** `{service}`: name or host of the push service. */
  pushService: 'Messages come through {service}.',
  pushServiceGoogle:
    'Messages come through Google (FCM). On Android this needs Google Play services.',
  brave:
    'Brave gets messages only if “Use Google services for push messaging” is on, under Privacy and security in its settings.',
  deadEndpoint:
    'The browser gave an address that does not exist ({service}). Subscribe on this site again; if this stays, update the browser, or use another.',
  registered: '{baseUrl} confirmed this subscription on {time}.',
  notRegistered:
    '{baseUrl} has not confirmed this subscription. Reload the page. If this stays, the service cannot be reached from it: look at the browser’s console, and check "baseUrl", "projectId" and the site’s Content-Security-Policy.',
  /** `{advice}`: one of the five below. */
  hidden: 'If the test notification does not appear: {advice}',
  android:
    'open the settings of the phone, then Apps, this browser, Notifications, and allow them; turn off Do Not Disturb, and battery saving for the browser.',
  ios: 'open the Settings app, then Notifications, and allow this site; turn off Focus.',
  macos: 'open System Settings, then Notifications, and allow the browser; turn off Focus.',
  windows:
    'open Settings, then System, Notifications, and allow the browser; turn off Do not disturb.',
  otherSystem:
    'allow the browser in the notification settings of the system, and turn off Do Not Disturb.',
  /** The button, what follows a click, and the notification. */
  test: 'Show a test notification',
  testShown: 'The browser has it. If you do not see it, the system hides it.',
  testRefused: 'Correct the problems above first.',
  testTitle: 'Test',
  testBody: 'This browser shows notifications of this site.',
};

/** What the check says. A name in braces is replaced by what was found. */
export type CheckTexts = { readonly [Name in keyof typeof english]: string };

/** What is checked. */
export type CheckName =
  | 'page'
  | 'permission'
  | 'service worker'
  | 'subscription'
  | 'push service'
  | 'registration'
  | 'system';

/** Puts values in the places of the names in braces. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
}
