/** What a visitor has to do before the browser can subscribe. */
export interface HelpTexts {
  /** How to add the site to the home screen of iOS and iPadOS. */
  readonly install: string;
  /** How to allow notifications again, in each kind of browser. */
  readonly deniedInChromium: string;
  readonly deniedInFirefox: string;
  readonly deniedInSafari: string;
  readonly deniedOnIos: string;
}

/** What visitors read in the bell and in the prompt. */
export interface BellTexts extends HelpTexts {
  /** Name of the bell, its panel, its switch and the prompt. */
  readonly label: string;
  /** The state, after the label and a colon: `Notifications: on`. */
  readonly on: string;
  readonly off: string;
  /** Name of the button that closes the panel, for screen readers. */
  readonly close: string;
  /** Above the check boxes of the channels. */
  readonly channels: string;
  /** Other channels are stored. */
  readonly saved: string;
  readonly failed: string;
  /** Of the prompt: its text and its buttons. */
  readonly question: string;
  readonly accept: string;
  readonly notNow: string;
}

export const englishHelp: HelpTexts = {
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
};

export const english: BellTexts = {
  ...englishHelp,
  label: 'Notifications',
  on: 'on',
  off: 'off',
  close: 'Close',
  channels: 'What to receive',
  saved: 'Saved.',
  failed: 'That did not work. Check your connection and try again.',
  question: 'May we send you notifications? You can stop them at any time.',
  accept: 'Yes',
  notNow: 'Not now',
};
