import type { Fault } from './faults.ts';
import { violations } from './invariants.ts';
import { simulate } from './simulation.ts';

/** What happened in the run of a seed, line by line: ms since the start, actor, event. */
export async function traceOf(seed: number, favoured: readonly Fault[] = []): Promise<string> {
  const report = await simulate(seed, { isTraced: true, favoured });
  const { world, scenario } = report;
  const lines = world.trace.map(
    ({ at, actor, text }) => `${at.toFixed(0).padStart(9)}  ${actor.padEnd(18)} ${text}`,
  );
  const broken = violations(report).map(({ invariant, message }) => `${invariant}: ${message}`);
  const { browsers, calls: _, ...settings } = scenario;
  return [
    `Seed ${seed}: ${browsers.length} browsers, ${JSON.stringify(settings)}`,
    ...lines,
    ...broken,
  ].join('\n');
}
