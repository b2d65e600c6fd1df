import type { Platform } from '../../../contract/openapi/field-texts.ts';

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

/**
 * Characters until a platform cuts a text off: about the fewest that senders report. None is documented, and all depend
 * on the device and the width of the letters.
 */
export interface PlatformLengths {
  readonly title: number;
  readonly body: number;
  /** Of the body, with an image. Default: as without. */
  readonly bodyWithImage?: number;
  readonly button: number;
}

export const platformLengths: Readonly<Record<Platform, PlatformLengths>> = {
  chrome: { title: 64, body: 120, button: 19 },
  firefox: { title: 50, body: 200, button: 19 },
  macos: { title: 35, body: 100, button: 19 },
  // With an image, one line.
  android: { title: 40, body: 240, bodyWithImage: 60, button: 19 },
};
