import type { UnsupportedReason } from '../client/unsupported-reason.ts';
import type { HelpTexts } from './texts.ts';

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
