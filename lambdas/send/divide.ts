import { sliceSizes } from '../../contract/infrastructure/delivery.ts';
import type { Slice } from '../../contract/infrastructure/slice.ts';
import type { Personal } from '../../contract/wire/placeholders.ts';
import type { ProjectSettings } from '../../contract/wire/project.ts';
import { type Division, positionCount } from '../store/items.ts';

/** Whom a notification is sent to: everyone, or the subscribers with some user ids. */
export type Audience = { readonly subscribers: number } | Users;

export interface Users extends Personal {
  readonly userIds: readonly string[];
}

/** How an audience is divided among functions. */
export type Divided = Pick<Division, 'slices' | 'countersPerSlice'>;

/**
 * Pushes per second over all slices: the setting, or more if an asynchronous delivery would otherwise
 * take longer than its functions may run.
 */
export function paceOf(audience: Audience, setting: number, respondsAsync: boolean): number {
  if (!respondsAsync) return setting;
  const recipients = 'userIds' in audience ? audience.userIds.length : audience.subscribers;
  return Math.max(setting, recipients / sliceSizes.longestSeconds);
}

/**
 * Divides an audience among as few functions as can deliver it in time, and no more than the pace needs.
 * @param pushesPerSecond over all slices.
 */
export function divide(
  audience: Audience,
  pushesPerSecond: number,
  respondsAsync: boolean,
): Divided {
  if ('userIds' in audience) {
    return { slices: respondsAsync ? slicesOfUsers(audience) : 1, countersPerSlice: 1 };
  }
  const { subscribers } = audience;
  const forPace = Math.max(1, Math.floor(pushesPerSecond / sliceSizes.pushesPerSecond));
  const most = Math.min(forPace, sliceSizes.slices);
  const slices =
    subscribers <= sliceSizes.recipients
      ? 1
      : Math.min(most, Math.ceil(subscribers / sliceSizes.expectedRecipients));
  const counters = Math.ceil(subscribers / slices / sliceSizes.recipientsPerCounter);
  return { slices, countersPerSlice: Math.min(sliceSizes.counters, Math.max(1, counters)) };
}

/** The fewest equal slices that are not too large. A repeated request divides its users again. */
function slicesOfUsers({ userIds, values }: Users): number {
  const bytes = userIds.map((userId, index) =>
    Buffer.byteLength(JSON.stringify([userId, values?.[index]])),
  );
  const fits = (slices: number) =>
    bounds(slices, userIds.length).every(
      ([from, to]) =>
        bytes.slice(from, to).reduce((sum, one) => sum + one, 0) <= sliceSizes.userBytes,
    );
  let slices = Math.ceil(userIds.length / sliceSizes.users);
  while (slices < userIds.length && !fits(slices)) slices += 1;
  return slices;
}

/** Where each slice starts and ends. */
function bounds(slices: number, positions: number): readonly (readonly [number, number])[] {
  const bound = (slice: number) => Math.floor((slice * positions) / slices);
  return Array.from({ length: slices }, (_, slice) => [bound(slice), bound(slice + 1)]);
}

/** What the slices of a notification have in common. */
export type Common = Omit<
  Slice,
  | ('slice' | 'firstCounter' | 'counters' | 'pushesPerSecond' | 'eventWindowSeconds')
  | ('userIds' | keyof Personal | 'from' | 'to' | 'step' | 'consistent')
>;

/** The slices of a notification. Together they cover its audience once. */
export function slicesOf(
  common: Common,
  audience: Audience,
  { slices, countersPerSlice }: Divided,
  pushesPerSecond: number,
): readonly Slice[] {
  const pace = pushesPerSecond / slices;
  const positions = 'userIds' in audience ? audience.userIds.length : positionCount;
  return bounds(slices, positions).map(([from, to], slice) => {
    const own = {
      ...common,
      slice,
      firstCounter: slice * countersPerSlice,
      counters: countersPerSlice,
      pushesPerSecond: pace,
    };
    if ('userIds' in audience) {
      const userIds = audience.userIds.slice(from, to);
      const values = audience.values?.slice(from, to);
      const appBadges = audience.appBadges?.slice(from, to);
      const step = Math.min(to - from, Math.ceil(pace * sliceSizes.chunkSeconds));
      const range = { userIds, values, appBadges, from: 0, to: to - from, step };
      const windowSeconds = eventWindowSeconds(audience.userIds.length);
      return { ...own, ...range, eventWindowSeconds: windowSeconds, consistent: false };
    }
    const { subscribers } = audience;
    return {
      ...own,
      from,
      to,
      step: stepFor(subscribers, pace),
      eventWindowSeconds: eventWindowSeconds(subscribers),
      consistent: subscribers <= sliceSizes.recipients,
    };
  });
}

/** Positions that are expected to hold a chunk. */
function stepFor(subscribers: number, pace: number): number {
  const inTime = Math.ceil(pace * sliceSizes.chunkSeconds);
  if (subscribers <= Math.min(sliceSizes.chunk, inTime)) return positionCount;
  const chunk = Math.min(sliceSizes.expectedChunk, inTime);
  return Math.max(1, Math.floor((positionCount * chunk) / subscribers));
}

/**
 * Seconds over which browsers spread their `shown` events, so that functions and event counters take them.
 * @param audience subscribers, or user ids: most have one subscription.
 */
export function eventWindowSeconds(audience: number): number {
  return Math.min(sliceSizes.eventWindowSeconds, Math.round(audience / sliceSizes.shownPerSecond));
}

/**
 * Of how many browsers one reports `shown`, if the project wants that. The size of an audience with conditions is not
 * known, so it is never sampled.
 * @returns undefined if each reports it.
 */
export function shownSampleOf(
  audience: Audience,
  { shownSample }: Pick<ProjectSettings, 'shownSample'>,
): number | undefined {
  const isLarge = 'subscribers' in audience && audience.subscribers > sliceSizes.shownSampleAbove;
  return isLarge && shownSample > 1 ? shownSample : undefined;
}
