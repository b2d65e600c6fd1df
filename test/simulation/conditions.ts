import type { Conditions } from '../../contract/wire/content.ts';
import type { Random } from './time/random.ts';
import type { StoredRegistration } from './world.ts';

/** A condition in a simulation. */
interface SimulatedCondition {
  /** A value for a send. */
  readonly some: (random: Random) => Conditions[keyof Conditions];
  readonly isMet: (value: never, stored: StoredRegistration, sentAt: number) => boolean;
}

export const channels = ['news', 'sales'];
export const dayMs = 24 * 60 * 60 * 1000;

/** Days of every send that has a condition on them. */
export const seenDays = 7;
export const simulatedConditions = {
  channels: {
    some: (random) => random.pick([['news'], channels]),
    isMet: (names: readonly string[], stored) =>
      names.some((name) => stored.channels.includes(name)),
  },
  seenWithinDays: {
    some: () => seenDays,
    isMet: (days: number, { updatedAt }, sentAt) => updatedAt >= sentAt - (days + 1) * dayMs,
  },
} satisfies Readonly<Record<keyof Conditions, SimulatedCondition>>;
