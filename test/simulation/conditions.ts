import type { Conditions } from '../../contract/conditions.ts';
import type { Random } from './time/random.ts';

/** A condition in a simulation. */
interface SimulatedCondition {
  /** A value for a send. */
  readonly some: (random: Random) => Conditions[keyof Conditions];
  readonly isMet: (value: never, subscription: SimulatedSubscription) => boolean;
}

/** A subscription when a notification was sent. */
interface SimulatedSubscription {
  readonly channels: readonly string[];
  /** Milliseconds since its last subscribe request; 0 if that was during the simulation. */
  readonly seenAgoMs: number;
}

export const channels = ['news', 'sales'];
export const dayMs = 24 * 60 * 60 * 1000;

/** Days of every send that has a condition on them. */
export const seenDays = 7;
export const simulatedConditions = {
  channels: {
    some: (random) => random.pick([['news'], channels]),
    isMet: (names: readonly string[], subscription) =>
      names.some((name) => subscription.channels.includes(name)),
  },
  seenWithinDays: {
    some: () => seenDays,
    isMet: (days: number, { seenAgoMs }) => seenAgoMs <= (days + 1) * dayMs,
  },
} satisfies Readonly<Record<keyof Conditions, SimulatedCondition>>;
