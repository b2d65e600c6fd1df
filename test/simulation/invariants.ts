import { counts } from './invariants/counts.ts';
import { project } from './invariants/project.ts';
import { pushes } from './invariants/pushes.ts';
import { responses } from './invariants/responses.ts';
import type { Invariant } from './invariants/verdicts.ts';
import type { Report } from './simulation.ts';

/** What is true of every run, whatever fails in it. */
export const invariants = {
  ...pushes,
  ...counts,
  ...responses,
  ...project,
} as const satisfies Readonly<Record<string, Invariant>>;

export type InvariantName = keyof typeof invariants;

export interface Violation {
  readonly invariant: InvariantName;
  readonly message: string;
}

/** On how many things an invariant has given a verdict, and on how many it said nothing, by the reason. */
export interface Coverage {
  judged: number;
  readonly except: Map<string, number>;
}

export type Coverages = Map<InvariantName, Coverage>;

/** @param coverages to which those of this report are added. */
export function violations(report: Report, coverages: Coverages = new Map()): Violation[] {
  const found: Violation[] = [];
  for (const [name, invariant] of Object.entries(invariants) as [InvariantName, Invariant][]) {
    const coverage = coverages.get(name) ?? { judged: 0, except: new Map<string, number>() };
    coverages.set(name, coverage);
    for (const { broken, except } of invariant(report)) {
      if (broken !== undefined) found.push({ invariant: name, message: broken });
      if (except === undefined) coverage.judged += 1;
      else coverage.except.set(except, (coverage.except.get(except) ?? 0) + 1);
    }
  }
  return found;
}
