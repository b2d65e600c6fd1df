import type { Subscription } from '../../contract/schemas.ts';
import type { PushService } from '../push-service/push-service.ts';
import type { SimulatedBrowser } from '../push-service/simulated-browser.ts';

/**
 * What a browser does once the demo gets difficult: its subscription ends (410), its push service
 * refuses the sender (403), or fails once and then accepts (500), or all goes on being well.
 */
export type Role = 'well' | 'leaves' | 'refuses' | 'falters';

export interface SimulatedUser {
  readonly browser: SimulatedBrowser;
  readonly userId: string | undefined;
  readonly role: Role;
  /** Whether this person looks at a notification, and whether they click it. */
  readonly shows: boolean;
  readonly clicks: boolean;
}

const roles: Readonly<Record<number, Role>> = { 1: 'leaves', 2: 'refuses', 3: 'falters' };

/**
 * Subscribes so many browsers to the push service. One in twenty has each of the difficult roles;
 * the first half are signed in, as users with two browsers each.
 */
export function createSimulatedUsers(
  count: number,
  pushService: PushService,
  applicationServerKey: string,
): readonly SimulatedUser[] {
  return Array.from({ length: count }, (_, index) => ({
    browser: pushService.subscribe({ applicationServerKey }),
    userId: index < count / 2 ? `user-${Math.floor(index / 2)}` : undefined,
    role: roles[index % 20] ?? 'well',
    shows: index % 10 !== 9,
    clicks: index % 5 === 0,
  }));
}

/** Lets every browser begin to behave as its role says. */
export function applyRoles(players: readonly SimulatedUser[]): void {
  for (const { browser, role } of players) {
    if (role === 'leaves') browser.unsubscribe();
    if (role === 'refuses') browser.behave({ status: 403 });
    if (role === 'falters') browser.behave({ status: 500, times: 1 });
  }
}

/** The body of subscribe that a player's page would post. */
export function subscriptionOf({ browser, userId }: SimulatedUser): Subscription {
  return { ...browser.toJSON(), ...(userId !== undefined && { userId }) };
}
