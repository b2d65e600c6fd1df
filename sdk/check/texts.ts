import { englishHelp } from '../bell/texts.ts';

export const english = {
  ...englishHelp,
  page: 'This browser',
  permission: 'Permission',
  'service worker': 'Background script',
  subscription: 'Subscription',
  'push service': 'Push service',
  registration: 'Known to Carillon',
  system: 'System settings',
  /** The first sentence, and the heading of what is right. `{count}`: a number. */
  allRight: 'All is right in this browser.',
  notKnown: 'No problem was found. The service was not asked.',
  oneProblem: 'Notifications may not arrive: 1 problem.',
  problems: 'Notifications may not arrive: {count} problems.',
  passed: 'Checks passed: {count}',
  supported: 'This page can receive pushes.',
  noOrigin: 'This page is a file or a part of an app. Open the site at its https address.',
  insecure: 'This page is not https. Open it at an https address.',
  embedded: 'This page is in a frame of another site. Open it in a tab of its own.',
  storageDenied:
    'The browser blocks cookies and storage for this site. Allow them in the settings.',
  noPush:
    'This browser has no push on this page. It may be a private window, an in-app browser, or turned off in the settings. Open the page in a normal window.',
  allowed: 'Notifications are allowed.',
  notAsked: 'Nobody has been asked yet. Subscribe on this site and allow notifications.',
  /** `{file}`: path of the service worker. */
  workerActive: '{file} is active.',
  workerInactive: 'A version is not active yet. Close all tabs of this site and open it again.',
  /** `{response}`: its status and type, or a redirect. */
  workerFile: '{file} responds with {response}. Copy carillon-sw.js there, as text/javascript.',
  workerScope: 'The scope of {file} needs the header "Service-Worker-Allowed".',
  /** `{scopes}`: those of all workers of the site. */
  workerMissing:
    'This site has none yet for {scope}. Others have: {scopes}. Subscribe on this site.',
  trustedTypes:
    'If that fails: the page requires Trusted Types; its policy must allow the name “carillon”.',
  workerOther:
    "{scope} has the service worker {other}. Import carillon-sw.js there, or serve it in another folder: it does not answer as Carillon's.",
  subscribed: 'This browser is subscribed.',
  notSubscribed: 'This browser is not subscribed. Subscribe on this site.',
  /** `{message}`: the browser's own. */
  noPushService:
    'The browser has no connection to its push service ({message}). A firewall may block it. LibreWolf and Zen turn it off: “dom.push.connection.enabled” in about:config.',
  otherKey:
    'This browser is subscribed with another application server key. Subscribe on this site.',
  /** `{service}`: name or host of the push service. */
  pushService: 'Messages come through {service}.',
  pushServiceGoogle:
    'Messages come through Google (FCM). On Android this needs Google Play services.',
  brave:
    'Brave gets messages only if “Use Google services for push messaging” is on, under Privacy and security in the settings.',
  deadEndpoint:
    'The browser gave an address that does not exist ({service}). Subscribe on this site. If this stays, update the browser.',
  registered: '{baseUrl} has just confirmed this subscription.',
  /** `{message}`: the service's own, in English, or `noResponse`. */
  refused: '{baseUrl} does not confirm this subscription: {message}',
  noResponse:
    'No response. Check the connection, "baseUrl" and the site’s Content-Security-Policy.',
  serviceNotAsked: 'The service was not asked.',
  notRegistered:
    'This browser has no confirmation of {baseUrl}. Reload the page. If this stays, check "baseUrl" and "projectId".',
  /** `{advice}`: one of the five below. */
  hidden: 'If the test notification does not appear: {advice}',
  android:
    'open the Settings app, then Apps, this browser, Notifications, and allow them; turn off Do Not Disturb, and battery saving for the browser.',
  ios: 'open the Settings app, then Notifications, and allow this site; turn off Focus.',
  macos: 'open System Settings, then Notifications, and allow the browser; turn off Focus.',
  windows:
    'open Settings, then System, Notifications, and allow the browser; turn off Do not disturb.',
  otherSystem:
    'allow the browser in the notification settings of the system; turn off Do Not Disturb.',
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
