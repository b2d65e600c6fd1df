import type { VapidPair, VapidPairs } from '../../../contract/project.ts';
import type { Push } from './push.ts';

/**
 * Has a push that was refused with `key_mismatch` signed with the project's other key pair.
 * @returns false if there is no other pair, or both have been tried.
 */
export function useOtherPair(push: Push, { current, previous }: VapidPairs<VapidPair>): boolean {
  if (previous === undefined || push.isOtherPair) return false;
  const { name, vapid } = push.origin;
  // The signer remembers tokens, so that this signs once per origin and pair too.
  push.origin = { name, vapid: vapid === current ? previous : current };
  push.headers = undefined;
  push.isOtherPair = true;
  return true;
}
