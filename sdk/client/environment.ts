/**
 * Why this page cannot receive pushes. There is no reason for private windows: browsers hide them from
 * pages.
 */
export type UnsupportedReason =
  /** The page is not https, nor on localhost. */
  | 'insecure_context'
  /** On iOS and iPadOS, only a site that was opened from the home screen has push. */
  | 'ios_not_installed'
  /** The browser has no push, or a setting or policy turned it off. */
  | 'no_push';

/** What the reason depends on: a part of `window`. */
interface PageEnvironment {
  readonly isSecureContext: boolean;
  /** WebKit on iOS and iPadOS has `standalone`: whether the page was opened from the home screen. */
  readonly navigator: { readonly serviceWorker?: unknown; readonly standalone?: boolean };
}

/** @returns undefined if push is supported. */
export function unsupportedReason(page: PageEnvironment): UnsupportedReason | undefined {
  if (!page.isSecureContext) return 'insecure_context';
  if ('serviceWorker' in page.navigator && 'PushManager' in page && 'Notification' in page) {
    return undefined;
  }
  return page.navigator.standalone === false ? 'ios_not_installed' : 'no_push';
}
