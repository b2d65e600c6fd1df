/**
 * The channels of a visitor who has switched notifications off, for the day when they are switched on again:
 * `unsubscribe()` forgets them. Where a browser denies storage, it has no push.
 */
const storageKey = 'carillon-channels';

export function keepChannels(channels: readonly string[]): void {
  localStorage.setItem(storageKey, JSON.stringify(channels));
}

/** Undefined if nobody has switched off. */
export function keptChannels(): readonly string[] | undefined {
  return JSON.parse(localStorage.getItem(storageKey) ?? 'null') ?? undefined;
}

export function forgetChannels(): void {
  localStorage.removeItem(storageKey);
}
