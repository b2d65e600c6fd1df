import { timing } from '../common/timing.ts';

/**
 * Why this page cannot receive pushes. There is no reason for private windows: browsers hide them from
 * pages.
 */
export type UnsupportedReason =
  /** The page has no http address: it is a file, or a part of an app. */
  | 'no_origin'
  /** The page is not https, nor on localhost. */
  | 'insecure_context'
  /** The page is in a frame of another site, where browsers allow no notifications. */
  | 'embedded'
  /** The browser blocks cookies and storage, and with them service workers. */
  | 'storage_denied'
  /** On iOS and iPadOS, only a site that was opened from the home screen has push. */
  | 'ios_not_installed'
  /** The browser has no push, or a setting or policy turned it off. */
  | 'no_push';

/** What the reason depends on: a part of `window`. */
interface PageEnvironment {
  readonly location: { readonly protocol: string };
  readonly isSecureContext: boolean;
  readonly top: { readonly location: { readonly href: string } } | null;
  readonly sessionStorage: unknown;
  readonly Notification?: { readonly permission: string };
  /** The newest of what the SDK needs: a browser that has it has all the rest. */
  readonly AbortSignal?: { readonly timeout?: unknown };
  /** WebKit on iOS and iPadOS has `standalone`: whether the page was opened from the home screen. */
  readonly navigator: { readonly serviceWorker?: unknown; readonly standalone?: boolean };
}

/** @returns undefined if push is supported. */
export function unsupportedReason(page: PageEnvironment): UnsupportedReason | undefined {
  if (!page.location.protocol.startsWith('http')) return 'no_origin';
  if (!page.isSecureContext) return 'insecure_context';
  try {
    void page.top!.location.href;
  } catch {
    return 'embedded';
  }
  try {
    // Nothing is kept there. It throws where a person has blocked cookies, as all storage then fails.
    void page.sessionStorage;
  } catch {
    return 'storage_denied';
  }
  const { navigator } = page;
  if (
    'serviceWorker' in navigator &&
    'PushManager' in page &&
    page.Notification?.permission &&
    page.AbortSignal?.timeout
  ) {
    return undefined;
  }
  return navigator.standalone === false ? 'ios_not_installed' : 'no_push';
}

/** What the page's Content-Security-Policy has refused last. */
let violation: Partial<SecurityPolicyViolationEvent> = {};

/** Records from now on what the page's Content-Security-Policy refuses. */
export function watchPolicy(): void {
  document.addEventListener('securitypolicyviolation', (event) => {
    if (event.disposition !== 'report') violation = event;
  });
}

/** The policy, if it has just refused what starts so. Browsers report that a moment after the failure. */
export async function policyRefusal(...starts: readonly string[]): Promise<string | undefined> {
  await timing.wait(100);
  return starts.some((start) => violation.blockedURI?.startsWith(start))
    ? `Content-Security-Policy (${violation.effectiveDirective})`
    : undefined;
}

/** The workers of a registration. The first one gets the pushes. Firefox has none for seconds after a reload. */
export function workersOf(registration: ServiceWorkerRegistration | undefined) {
  return [registration?.active, registration?.waiting, registration?.installing].filter(
    (worker) => !!worker,
  );
}
