import type { Values } from '../../contract/placeholders.ts';
import type { NotificationContent } from '../../contract/schemas/notification.ts';
import type { Share } from '../../contract/share.ts';
import { shareSizes } from '../../contract/share-sizes.ts';
import { positionCount } from '../store/subscription-keys.ts';

/** Whom a notification is sent to: everyone, or the subscribers with some user ids. */
export type Audience = { readonly subscribers: number } | Users;

export interface Users {
  readonly userIds: readonly string[];
  /** The values of each of them, if the content has placeholders. */
  readonly values?: readonly Values[] | undefined;
}

/** How an audience is divided among functions. */
export interface Division {
  readonly shares: number;
  /** Items over which the events of a share's recipients are spread. */
  readonly talliesPerShare: number;
}

/**
 * Pushes per second over all shares: the setting, or more if an asynchronous delivery would otherwise
 * take longer than its functions may run.
 */
export function paceOf(audience: Audience, setting: number, respondsAsync: boolean): number {
  if (!respondsAsync || 'userIds' in audience) return setting;
  return Math.max(setting, audience.subscribers / shareSizes.longestSeconds);
}

/**
 * Divides an audience among as few functions as can deliver it in time, and no more than the pace needs.
 * @param pushesPerSecond over all shares.
 */
export function divide(
  audience: Audience,
  pushesPerSecond: number,
  respondsAsync: boolean,
): Division {
  if ('userIds' in audience) {
    return { shares: respondsAsync ? sharesOfUsers(audience) : 1, talliesPerShare: 1 };
  }
  const { subscribers } = audience;
  const forPace = Math.max(1, Math.floor(pushesPerSecond / shareSizes.pushesPerSecond));
  const most = Math.min(forPace, shareSizes.shares);
  const shares =
    subscribers <= shareSizes.recipients
      ? 1
      : Math.min(most, Math.ceil(subscribers / shareSizes.expectedRecipients));
  const tallies = Math.ceil(subscribers / shares / shareSizes.recipientsPerTally);
  return { shares, talliesPerShare: Math.min(shareSizes.tallies, Math.max(1, tallies)) };
}

/** The fewest equal shares that are not too large. A repeated request divides its users again. */
function sharesOfUsers({ userIds, values }: Users): number {
  const bytes = userIds.map((userId, index) =>
    Buffer.byteLength(JSON.stringify([userId, values?.[index]])),
  );
  const fits = (shares: number) =>
    bounds(shares, userIds.length).every(
      ([from, to]) =>
        bytes.slice(from, to).reduce((sum, one) => sum + one, 0) <= shareSizes.userBytes,
    );
  let shares = Math.ceil(userIds.length / shareSizes.users);
  while (shares < userIds.length && !fits(shares)) shares += 1;
  return shares;
}

/** Where each share starts and ends. */
function bounds(shares: number, positions: number): readonly (readonly [number, number])[] {
  const bound = (share: number) => Math.floor((share * positions) / shares);
  return Array.from({ length: shares }, (_, share) => [bound(share), bound(share + 1)]);
}

export interface Broadcast {
  readonly projectId: string;
  readonly projectCreatedAt: string;
  readonly notificationId: string;
  /** The gateway's id of the request. */
  readonly requestId: string;
  readonly content: NotificationContent;
  readonly eventsUrl: string;
  readonly channels?: Share['channels'];
  readonly seenSince?: Share['seenSince'];
  /** Epoch seconds. */
  readonly expiresAt: number;
  readonly deadline: Share['deadline'];
}

/** The shares of a notification. Together they cover its audience once. */
export function sharesOf(
  broadcast: Broadcast,
  audience: Audience,
  { shares, talliesPerShare }: Division,
  pushesPerSecond: number,
): readonly Share[] {
  const pace = pushesPerSecond / shares;
  const positions = 'userIds' in audience ? audience.userIds.length : positionCount;
  return bounds(shares, positions).map(([from, to], index) => {
    const common = {
      ...broadcast,
      firstTally: index * talliesPerShare,
      tallies: talliesPerShare,
      pushesPerSecond: pace,
    };
    if ('userIds' in audience) {
      const userIds = audience.userIds.slice(from, to);
      const values = audience.values?.slice(from, to);
      const range = { userIds, values, from: 0, to: to - from, step: to - from };
      const windowSeconds = eventWindowSeconds(audience.userIds.length);
      return { ...common, ...range, eventWindowSeconds: windowSeconds, consistent: false };
    }
    const { subscribers } = audience;
    return {
      ...common,
      ...{ from, to, step: stepFor(subscribers, pace) },
      eventWindowSeconds: eventWindowSeconds(subscribers),
      consistent: subscribers <= shareSizes.recipients,
    };
  });
}

/** Positions that hold a chunk: as many recipients as fit in memory and are pushed in time. */
function stepFor(subscribers: number, pace: number): number {
  const inTime = Math.ceil(pace * shareSizes.chunkSeconds);
  if (subscribers <= Math.min(shareSizes.recipients, inTime)) return positionCount;
  const chunk = Math.min(shareSizes.expectedRecipients, inTime);
  return Math.max(1, Math.floor((positionCount * chunk) / subscribers));
}

/**
 * Seconds over which browsers spread their `shown` events, so that functions and tallies take them.
 * @param audience subscribers, or user ids: most have one subscription.
 */
export function eventWindowSeconds(audience: number): number {
  return Math.min(shareSizes.eventWindowSeconds, Math.round(audience / shareSizes.shownPerSecond));
}
