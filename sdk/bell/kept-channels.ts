/**
 * The channels of a visitor who has switched notifications off, for the day when they are switched on again:
 * `unsubscribe()` forgets them.
 */
const storageKey = 'carillon-channels';

export function keepChannels(channels: readonly string[]): void {
  attempt(() => localStorage.setItem(storageKey, JSON.stringify(channels)));
}

/** Undefined if nobody has switched off. */
export function keptChannels(): readonly string[] | undefined {
  return attempt(() => JSON.parse(localStorage.getItem(storageKey)!)) ?? undefined;
}

export function forgetChannels(): void {
  attempt(() => localStorage.removeItem(storageKey));
}

/** A browser may deny storage, or have no room. */
function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
