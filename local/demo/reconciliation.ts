import type { DeliveryCounts } from '../../contract/schemas.ts';

/** What became of one notification: its deliveries, and the beacons about it. */
export interface Tally extends DeliveryCounts {
  readonly shown: number;
  readonly clicked: number;
}
export type Measure = keyof Tally;
export const measures = [
  'attempted',
  'delivered',
  'removed',
  'failed',
  'shown',
  'clicked',
] as const satisfies readonly Measure[];

/** Who says what became of a notification, and how a sentence puts it. */
export const witnesses = {
  answered: 'the service answered',
  seen: 'the push service saw',
  stored: 'the tables hold',
} as const;
export type Source = keyof typeof witnesses;

/** One notification: what should have become of it, and what each witness says. */
export interface Account extends Readonly<Record<Source, Partial<Tally>>> {
  readonly what: string;
  readonly id: string;
  readonly expected: Tally;
}

/** A number that has several sources, such as how many subscribers are left. */
export interface Figure {
  readonly what: string;
  readonly expected: number;
  readonly sources: Readonly<Record<string, number>>;
}

/** Whether a witness says otherwise than expected; one that does not speak of it does not. */
export function differs(account: Account, witness: Source, measure: Measure): boolean {
  const said = account[witness][measure];
  return said !== undefined && said !== account.expected[measure];
}

/** Every difference, as one sentence each. */
export function differences(accounts: readonly Account[], figures: readonly Figure[]): string[] {
  const ofAccounts = accounts.flatMap((account) =>
    (Object.keys(witnesses) as Source[]).flatMap((witness) =>
      measures
        .filter((measure) => differs(account, witness, measure))
        .map(
          (measure) =>
            `${account.what}: ${witnesses[witness]} ${account[witness][measure]} ${measure}, ` +
            `${account.expected[measure]} were expected.`,
        ),
    ),
  );
  const ofFigures = figures.flatMap(({ what, expected, sources }) =>
    Object.entries(sources)
      .filter(([, value]) => value !== expected)
      .map(([source, value]) => `${what}: ${source} ${value}, ${expected} were expected.`),
  );
  return [...ofAccounts, ...ofFigures];
}
