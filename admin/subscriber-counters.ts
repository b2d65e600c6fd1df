import type { Plan, SubscriberCounter } from '../contract/project.ts';
import type { UsageItem } from '../lambdas/store/items.ts';
import { subscriberPeriods } from '../lambdas/store/subscription-keys.ts';

/** The counter for a plan: a cap is exact only in a single one. */
export function counterFor({ subscriberCap }: Plan): SubscriberCounter {
  return subscriberCap === null ? 'parts' : 'single';
}

/** The counters of a new project. Functions change only counters that exist. */
export function newCounters(projectId: string): readonly UsageItem[] {
  return subscriberPeriods.map((period) => ({ projectId, period, used: 0 }));
}

/**
 * The writes that move all counts to the single counter, for one transaction. The parts are decreased by
 * what was read, so that a subscription which is counted meanwhile is not lost.
 */
export function foldCounters(table: string, counters: readonly UsageItem[]) {
  const [, ...parts] = subscriberPeriods;
  const counted = counters.filter(({ period, used }) => parts.includes(period) && used !== 0);
  const sum = counted.reduce((total, { used }) => total + used, 0);
  const move = (projectId: string, period: string, change: number) => ({
    Update: {
      TableName: table,
      Key: { projectId, period },
      UpdateExpression: 'SET used = used + :change',
      ConditionExpression: 'attribute_exists(used)',
      ExpressionAttributeValues: { ':change': change },
    },
  });
  return counted.flatMap(({ projectId, period, used }, index) => [
    ...(index === 0 ? [move(projectId, subscriberPeriods[0]!, sum)] : []),
    move(projectId, period, -used),
  ]);
}
