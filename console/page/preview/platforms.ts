import type { SendRequest } from '../../../contract/schemas/notification.ts';

export type Platform = 'chrome' | 'firefox' | 'macos' | 'android';

export const platformNames: Readonly<Record<Platform, string>> = {
  chrome: 'Chrome on Windows',
  firefox: 'Firefox on Windows',
  macos: 'Safari on macOS',
  android: 'Chrome on Android',
};

/** Short enough for one row on a phone. */
export const platformTabs: Readonly<Record<Platform, string>> = {
  chrome: 'Chrome',
  firefox: 'Firefox',
  macos: 'Safari',
  android: 'Android',
};

/** Fields of which platforms make something different. */
export type VariedField =
  | 'icon'
  | 'image'
  | 'badge'
  | 'actions'
  | 'requireInteraction'
  | 'silent'
  | 'tag'
  | 'renotify'
  | 'timestamp'
  | 'appBadge';

type Sentences = Readonly<Partial<Record<VariedField & keyof SendRequest, string>>>;

/**
 * What a platform makes of a notification. The lengths are about the shortest that senders report for
 * the platform; none is documented, and all depend on the device and the width of the letters.
 */
export interface PlatformFacts {
  /** Characters until the text is cut off. */
  readonly titleLength: number;
  readonly bodyLength: number;
  /** With an image. Default: as without. */
  readonly bodyLengthWithImage?: number;
  readonly buttonLength: number;
  /** Fields without effect, and what to know about it. */
  readonly ignored: Sentences;
  /** What to know about fields with an effect. */
  readonly shown: Sentences;
}

const staysOpen = 'It stays on the screen until the person clicks or dismisses it.';
const makesNoSound = 'It makes no sound.';
const alertsAgain = 'It alerts again when it replaces the one with the same tag.';

/** Fields: MDN's browser compatibility data 8.1.9. */
export const platforms: Readonly<Record<Platform, PlatformFacts>> = {
  chrome: {
    titleLength: 64,
    bodyLength: 120,
    buttonLength: 19,
    ignored: { badge: 'No badge: only Android shows it.' },
    shown: {
      requireInteraction: staysOpen,
      silent: makesNoSound,
      renotify: alertsAgain,
      appBadge: 'The number on an icon needs the site to be installed as an app.',
    },
  },
  firefox: {
    titleLength: 50,
    bodyLength: 200,
    buttonLength: 19,
    ignored: {
      image: 'No image: Firefox shows none.',
      badge: 'No badge: Firefox shows none.',
      renotify: 'No alert when it replaces the one with the same tag.',
      timestamp: 'The time is that of its arrival.',
      appBadge: 'No number on the icon of an app.',
    },
    shown: {
      actions: 'Buttons need Firefox 152 or newer.',
      requireInteraction: `${staysOpen} Firefox on other systems closes it.`,
      silent: makesNoSound,
    },
  },
  macos: {
    titleLength: 35,
    bodyLength: 100,
    buttonLength: 19,
    ignored: {
      icon: 'No icon of the notification: Safari ignores it. Chrome on macOS shows it.',
      image: 'No image: no browser on macOS shows it.',
      badge: 'No badge: no browser on macOS shows it.',
      actions: 'No buttons: Safari shows none. Chrome on macOS has them in a menu.',
      requireInteraction: 'It disappears like any other: the settings of macOS decide.',
      tag: 'It does not replace the one with the same tag.',
      timestamp: 'The time is that of its arrival.',
    },
    shown: {
      silent: makesNoSound,
      appBadge: 'The number on an icon needs the site to be added to the Dock.',
    },
  },
  android: {
    titleLength: 40,
    bodyLength: 240,
    // One line.
    bodyLengthWithImage: 60,
    buttonLength: 19,
    ignored: {
      requireInteraction: 'It stays in the list until it is dismissed, like every notification.',
      appBadge: 'No number on the icon of an app.',
    },
    shown: {
      image: 'The image is shown, with one line of the body, when the notification is expanded.',
      badge: 'The badge is shown in one colour: only its transparency counts.',
      actions: 'Buttons are shown when the notification is expanded.',
      silent: makesNoSound,
      renotify: alertsAgain,
    },
  },
};
