import type { ProjectAddress, User } from './service.ts';

/** The last registration of this browser with the service. Pages and service worker share it. */
export interface Registration extends ProjectAddress, Partial<User> {
  readonly endpoint: string;
  /** Milliseconds since the epoch. */
  readonly registeredAt: number;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Whether the browser has to be registered: if something has changed, or after a day, because the
 * service may have removed the subscription.
 * @param wanted is compared member by member: one to clear is undefined, not absent.
 */
export function isDue(
  stored: Registration | undefined,
  wanted: Partial<Registration>,
  now: number,
): boolean {
  if (stored === undefined || now - stored.registeredAt > dayMs) return true;
  const names = Object.keys(wanted) as (keyof typeof wanted)[];
  return names.some((name) => JSON.stringify(stored[name]) !== JSON.stringify(wanted[name]));
}
