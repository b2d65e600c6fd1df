import type { PushMessage } from '../../contract/message.ts';
import type { EventType } from '../../contract/schemas/event.ts';
import type { PushService } from '../push-service/push-service.ts';
import type { SimulatedBrowser } from '../push-service/simulated-browser.ts';
import { inParallel } from './in-parallel.ts';
import { type StartProgress, withProgress } from './progress.ts';
import type { NotificationCounts } from './reconciliation.ts';

/**
 * Outcome of the first attempt to push to a browser, once {@link applyFaults} was called: delivered
 * (201), gone (410), failed (403), or transient (500; the retry is delivered).
 */
type FirstOutcome = 'delivered' | 'gone' | 'failed' | 'transient';

/** A browser and the person who uses it. */
export interface SimulatedUser {
  readonly browser: SimulatedBrowser;
  readonly userId: string | undefined;
  readonly firstOutcome: FirstOutcome;
  /** Whether this browser reports notifications as shown, and as clicked. */
  readonly shows: boolean;
  readonly clicks: boolean;
}

const faults: Readonly<Record<number, FirstOutcome>> = { 1: 'gone', 2: 'failed', 3: 'transient' };

/**
 * Creates `count` browsers with a subscription at the push service. Of every 20, one has each of the
 * three faults. The first half belong to signed-in users with two browsers each.
 */
export function createSimulatedUsers(
  count: number,
  pushService: PushService,
  applicationServerKey: string,
): readonly SimulatedUser[] {
  return Array.from({ length: count }, (_, index) => ({
    browser: pushService.subscribe({ applicationServerKey }),
    userId: index < count / 2 ? `user-${Math.floor(index / 2)}` : undefined,
    firstOutcome: faults[index % 20] ?? 'delivered',
    shows: index % 10 !== 9,
    clicks: index % 5 === 0,
  }));
}

/** Makes every browser respond to the next pushes with its first outcome. */
export function applyFaults(users: readonly SimulatedUser[]): void {
  for (const { browser, firstOutcome } of users) {
    if (firstOutcome === 'gone') browser.unsubscribe();
    if (firstOutcome === 'failed') browser.behave({ status: 403 });
    if (firstOutcome === 'transient') browser.behave({ status: 500, times: 1 });
  }
}

/** The body of subscribe that this user's page posts. */
export function subscriptionOf({ browser, userId }: SimulatedUser) {
  return { ...browser.toJSON(), ...(userId !== undefined && { userId }) };
}

export function signedInUserIds(users: readonly SimulatedUser[]): string[] {
  const userIds = users.map(({ userId }) => userId);
  return [...new Set(userIds.filter((userId) => userId !== undefined))];
}

/** Whether the last message of a user's browser is this notification. */
export function hasReceived({ browser }: SimulatedUser, id: string, title: string): boolean {
  const last = browser.messages.at(-1);
  if (last === undefined) return false;
  const { notification } = JSON.parse(last.text) as PushMessage;
  return notification.data.id === id && notification.title === title;
}

/** Posts the beacons of the browsers that received a notification. @returns how many of each. */
export async function postBeacons(
  users: readonly SimulatedUser[],
  startProgress: StartProgress,
  concurrency: number,
): Promise<Record<EventType, number>> {
  const beacons = users.flatMap(({ browser, shows, clicks }) => [
    ...(shows ? [{ type: 'shown' as const, post: () => browser.show() }] : []),
    ...(clicks ? [{ type: 'clicked' as const, post: () => browser.click() }] : []),
  ]);
  const posted = { shown: 0, clicked: 0 };
  await withProgress(startProgress('  beacons', beacons.length), (progress) =>
    inParallel(beacons, concurrency, async ({ type, post }) => {
      const response = await post();
      await response.arrayBuffer();
      posted[type] += 1;
      progress.update(posted.shown + posted.clicked);
    }),
  );
  return posted;
}

/** The counts expected of a notification to these users, with faults. */
export function expectedCounts(audience: readonly SimulatedUser[]): NotificationCounts {
  const having = (outcome: FirstOutcome) =>
    audience.filter(({ firstOutcome }) => firstOutcome === outcome);
  const receivers = [...having('delivered'), ...having('transient')];
  return {
    attempted: audience.length,
    delivered: receivers.length,
    removed: having('gone').length,
    failed: having('failed').length,
    shown: receivers.filter(({ shows }) => shows).length,
    clicked: receivers.filter(({ clicks }) => clicks).length,
  };
}
