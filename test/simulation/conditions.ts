import type { Conditions } from '../../contract/wire/content.ts';
import { type Choice, type ChoiceName, choiceNames } from '../../contract/wire/fields.ts';
import type { Random } from './time/random.ts';
import type { StoredRegistration } from './world.ts';

/** A condition in a simulation. */
export interface SimulatedCondition {
  /** A value for a send. */
  readonly some: (random: Random) => Conditions[keyof Conditions];
  readonly isMet: (
    value: never,
    stored: Pick<StoredRegistration, 'choice' | 'updatedAt'>,
    sentAt: number,
  ) => boolean;
}

const channels = ['news', 'sales'];
/** Languages of browsers, and of the send's translations that each reads. */
const languages = { en: undefined, 'de-CH': 'de', 'pt-BR': 'pt-BR', pt: undefined } as const;

export function translationsOf(title: string) {
  return { de: { title: `de: ${title}` }, 'pt-BR': { title: `pt-BR: ${title}` } };
}

/** What a browser with this language shows of a translated title. */
export function titleIn(locale: string | undefined, title: string): string {
  const tag = languages[locale as keyof typeof languages];
  return tag === undefined ? title : translationsOf(title)[tag].title;
}

/** What browsers choose beside their user, as often as not. */
const chosen = {
  channels: (random: Random) => channels.filter(() => random.chance(0.5)),
  locale: (random: Random) => random.pick(Object.keys(languages)),
  consent: (random: Random) => random.pick(['v3', 'v4']),
} satisfies {
  // Always given: what is carried along and left out stays as it is stored.
  readonly [Name in Exclude<ChoiceName, 'userId'>]: (random: Random) => NonNullable<Choice[Name]>;
};

export function chosenMembers(random: Random): Choice {
  return Object.fromEntries(Object.entries(chosen).map(([name, some]) => [name, some(random)]));
}

/** Nothing chosen is the same as an empty list. */
export function choiceText(choice: Choice): string {
  return choiceNames.map((name) => choice[name] ?? '').join(' ');
}

export const dayMs = 24 * 60 * 60 * 1000;

/** Days of every send that has a condition on them. */
export const seenDays = 7;
export const simulatedConditions = {
  channels: {
    some: (random) => random.pick([['news'], channels]),
    isMet: (names: readonly string[], stored) =>
      names.some((name) => stored.choice.channels?.includes(name)),
  },
  locales: {
    some: () => ['de', 'pt'],
    isMet: (_: readonly string[], stored) => /^(de|pt)/.test(stored.choice.locale ?? ''),
  },
  seenWithinDays: {
    some: () => seenDays,
    isMet: (days: number, { updatedAt }, sentAt) => updatedAt >= sentAt - (days + 1) * dayMs,
  },
} satisfies Readonly<Record<keyof Conditions, SimulatedCondition>>;
