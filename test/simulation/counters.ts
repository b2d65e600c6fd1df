import { partPeriods, sharesOf, sumOf, utcMonth } from '../../lambdas/store/counters.ts';
import { projectCacheMs } from '../../lambdas/store/projects.ts';
import { tables } from './database/memory-database.ts';
import type { Change, World } from './world.ts';

/** Whether it is the hash of an erased endpoint. No subscription expires. */
export function isErasure(item: object): boolean {
  return 'expiresAt' in item;
}

/** What is wrong with the counters of the project, at any time: they change with what they count. */
export interface CounterFaults {
  readonly month: string | undefined;
  readonly subscribers: string | undefined;
}

export function counterFaultsOf(world: World): CounterFaults {
  const items = world.database.items(tables.usage);
  const capsOf = (limit: LimitName) => world.limits.map((one) => one[limit]);
  const sent = world.database
    .items(tables.notifications)
    .filter(({ content }) => content !== undefined)
    .map(({ sentAt }) => utcMonth(new Date(sentAt as string)));
  const months = items.map(({ period }) => String(period).split('#')[0]!).filter(isMonth);
  const ofMonths = [...new Set([...sent, ...months])].map((month) =>
    faultOf(month, sent.filter((other) => other === month).length, capsOf('monthlySendCap')),
  );
  const stored = world.database.items(tables.subscriptions);
  const subscribers = stored.filter((item) => !isErasure(item)).length;
  return {
    month: ofMonths.find((fault) => fault !== undefined),
    subscribers: faultOf('subscribers', subscribers, capsOf('subscriberCap')),
  };

  function faultOf(name: string, stored: number, caps: readonly (number | null)[]) {
    const parts = partPeriods(name).map(
      (one) => items.find(({ period }) => period === one)?.used as number | undefined,
    );
    const counted = sumOf(parts);
    if (counted !== stored) return `${name}: counted ${counted}, stored ${stored}`;
    // Parts took units under other caps.
    const [cap, ...others] = caps;
    if (cap === null || cap === undefined || others.length > 0) return undefined;
    const shares = sharesOf(cap, parts.length);
    const above = parts.findIndex((used = 0, part) => used > shares[part]!);
    return above === -1
      ? undefined
      : `${name}#${above}: ${parts[above]}, above its share of ${cap}`;
  }
}

function isMonth(period: string): boolean {
  return period !== 'subscribers';
}

type LimitName = 'subscriberCap' | 'monthlySendCap';

/**
 * Nothing is added above a cap that has held for longer than functions remember a project and take for a request,
 * whatever happened before.
 * @param functionMs the time-out of the function that adds.
 */
export function addedAbove(
  { limits }: World,
  limit: LimitName,
  changes: readonly Change[],
  functionMs: number,
): string | undefined {
  let number = 0;
  for (const { at, by } of changes.toSorted((one, other) => one.at - other.at)) {
    number += by;
    const since = at - projectCacheMs - functionMs;
    const before = limits.findLast((one) => one.at <= since) ?? limits[0]!;
    const caps = [before, ...limits.filter((one) => since < one.at && one.at <= at)].map(
      (one) => one[limit] ?? Number.POSITIVE_INFINITY,
    );
    const cap = Math.max(...caps);
    if (by === 1 && number > cap) return `${limit}: ${number} at ${at}, above ${cap}`;
  }
  return undefined;
}
