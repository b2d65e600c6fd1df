import { timing, within } from './timing.ts';

/** Chromium without a connection never settles `PushManager.subscribe()`. */
const subscribeTimeoutMs = 30_000;
const subscribeRetryPauseMs = 1000;
const unsubscribeTimeoutMs = 5000;

/** Converts base64 or base64url, padded or not, to base64url without padding. */
export function normalizeKey(key: string): string {
  return key.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

export function encodeKey(bytes: ArrayBuffer): string {
  return normalizeKey(btoa(String.fromCharCode(...new Uint8Array(bytes))));
}

/** Whether the subscription was made with this application server key. */
export function hasKey(subscription: PushSubscription, key: string): boolean {
  // Without a key, the text is empty.
  return encodeKey(subscription.options.applicationServerKey!) === key;
}

/**
 * Whether nobody can push to this endpoint: `https://permanently-removed.invalid/…`, which some versions of Edge for
 * Android give out. No host has a name in `.invalid` (RFC 6761 §6.4).
 */
export function isDead({ endpoint }: { readonly endpoint: string }): boolean {
  return new URL(endpoint).host.endsWith('.invalid');
}

/** Whether pushes with this application server key can reach the subscription. */
export function isUsable(subscription: PushSubscription, key: string): boolean {
  return hasKey(subscription, key) && !isDead(subscription);
}

/**
 * Returns the browser's subscription for this key. Replaces one that is not usable.
 * @throws what the browser's `subscribe()` throws, a `TimeoutError`, or an error if the browser has no endpoint.
 */
export function subscribeBrowser(manager: PushManager, key: string): Promise<PushSubscription> {
  const options = { userVisibleOnly: true, applicationServerKey: key };
  const attempt = async () => {
    // Firefox for Android resolves to null if its push service refuses.
    const subscription: PushSubscription | null = await manager.subscribe(options);
    if (subscription && !isDead(subscription)) return subscription;
    await subscription?.unsubscribe();
    throw new Error('no endpoint; update it.');
  };
  return within(subscribeTimeoutMs, async () => {
    const current = await manager.getSubscription();
    if (current && isUsable(current, key)) return current;
    // A service worker has at most one subscription, and `subscribe()` rejects another key until it ends.
    await current?.unsubscribe();
    // The first call fails while the browser is still connecting to its push service.
    return attempt().catch(() => timing.wait(subscribeRetryPauseMs).then(attempt));
  });
}

export async function endSubscription(subscription: PushSubscription): Promise<void> {
  await within(unsubscribeTimeoutMs, () => subscription.unsubscribe());
}
