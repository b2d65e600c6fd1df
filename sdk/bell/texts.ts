import type { UnsupportedReason } from '../client/environment.ts';
import type { CarillonError } from '../common/error.ts';

export const englishHelp = {
  /** How to add the site to the home screen of iOS and iPadOS. */
  install:
    'To get notifications, tap Share, then “Add to Home Screen”, and open this site from there. This needs iOS 16.4 or later.',
  /** How to allow notifications again, in each kind of browser. */
  deniedInChromium:
    'Notifications are blocked. Select the icon to the left of the address, and allow notifications. Incognito windows never allow them.',
  deniedInFirefox:
    'Notifications are blocked. Select the icon to the left of the address, and remove the block.',
  deniedInSafari:
    'Notifications are blocked. Open Safari’s settings, then Websites, then Notifications, and allow this site.',
  deniedOnIos:
    'Notifications are blocked. Open the Settings app, then Notifications, and allow this site.',
};

export const english = {
  ...englishHelp,
  /** Name of the bell, its panel, its switch and the prompt. */
  label: 'Notifications',
  /** The state, after the label and a colon: `Notifications: on`. */
  on: 'on',
  off: 'off',
  /** The state, below the label. */
  onHere: 'On in this browser',
  offHere: 'Off in this browser',
  /** While it is off, in place of the channels. */
  turnOn: 'Turn on to choose what to receive.',
  /** Above the check boxes of the channels. */
  channels: 'What to receive',
  /** Other channels are stored. */
  saved: 'Saved.',
  /** What to do when it did not work: by the error's code. */
  noConnection: 'That did not work. Check your connection and try again.',
  noPushService:
    'The browser cannot reach its push service. A setting or firewall may be the cause.',
  failed: 'That did not work. Try again later, or tell this site.',
  /** The prompt: its text and its buttons. */
  question: 'May we send you notifications? You can stop them at any time.',
  accept: 'Yes',
  notNow: 'Not now',
  /** The link to the site's page about privacy. */
  privacy: 'Privacy',
};

/** Texts of which any may be missing: it is English then. */
export type TextsOf<Texts> = { readonly [Name in keyof Texts]?: string | undefined };

export function withTexts<Texts extends object>(english: Texts, given: TextsOf<Texts>): Texts {
  const texts: { [Name in keyof Texts]?: unknown } = { ...given };
  for (const name in english) texts[name] ??= english[name];
  return texts as Texts;
}

/** @returns what a visitor can do about a failure. Empty: nothing failed, or the visitor closed the browser's question. */
export function failureText(failure: CarillonError | undefined, texts: BellTexts): string {
  switch (failure?.code) {
    case undefined:
    case 'permission_dismissed':
      return '';
    case 'network_error':
    case 'timeout':
      return texts.noConnection;
    case 'push_service_failed':
      return texts.noPushService;
    default:
      return texts.failed;
  }
}

/** What a visitor has to do before the browser can subscribe. */
export type HelpTexts = { readonly [Name in keyof typeof englishHelp]: string };

/** What visitors read in the bell and in the prompt. */
export type BellTexts = { readonly [Name in keyof typeof english]: string };

/** The used part of `PushState`. */
interface State {
  readonly reason: UnsupportedReason | undefined;
  readonly permission: string;
}

/** The used part of `window`. */
interface Browser {
  /** WebKit on iOS and iPadOS has `standalone`. */
  readonly navigator: { readonly userAgent: string };
}

/** @returns what the visitor has to do before the bell can subscribe; empty if nothing. */
export function helpOf({ reason, permission }: State, texts: HelpTexts, browser: Browser) {
  if (reason === 'ios_not_installed') return texts.install;
  if (permission !== 'denied') return '';
  const { navigator } = browser;
  if ('standalone' in navigator) return texts.deniedOnIos;
  if (/Firefox/.test(navigator.userAgent)) return texts.deniedInFirefox;
  return /Chrom/.test(navigator.userAgent) ? texts.deniedInChromium : texts.deniedInSafari;
}
