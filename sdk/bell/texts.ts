/** What visitors read. */
export interface BellTexts {
  /** Name of the bell and of the prompt, for screen readers. */
  readonly label: string;
  /** How to add the site to the home screen of iOS and iPadOS. */
  readonly install: string;
  /** How to allow notifications again, in each kind of browser. */
  readonly deniedInChromium: string;
  readonly deniedInFirefox: string;
  readonly deniedInSafari: string;
  readonly deniedOnIos: string;
  readonly failed: string;
  /** Opens the check boxes of the channels. */
  readonly channels: string;
  /** Of the prompt: its text and its buttons. */
  readonly question: string;
  readonly accept: string;
  readonly notNow: string;
}

export const english: BellTexts = {
  label: 'Notifications',
  install:
    'To get notifications, tap Share, then “Add to Home Screen”, and open this site from there. This needs iOS 16.4 or later.',
  deniedInChromium:
    'Notifications are blocked. Select the icon to the left of the address, and allow notifications. Incognito windows never allow them.',
  deniedInFirefox:
    'Notifications are blocked. Select the icon to the left of the address, and remove the block.',
  deniedInSafari:
    'Notifications are blocked. Open Safari’s settings, then Websites, then Notifications, and allow this site.',
  deniedOnIos:
    'Notifications are blocked. Open the Settings app, then Notifications, and allow this site.',
  failed: 'That did not work. Check your connection and try again.',
  channels: 'What to receive',
  question: 'May we send you notifications? You can stop them at any time.',
  accept: 'Yes',
  notNow: 'Not now',
};
