import { seenSince } from '../../lambdas/store/audience.ts';
import type { SubscriptionItem } from '../../lambdas/store/items.ts';

/** How many subscribers a send with each condition would select. */
export interface AudienceCounts {
  readonly subscribers: number;
  /** By the value of the field. */
  readonly seenWithinDays: Readonly<Record<string, number>>;
  /** By the name of the channel, most subscribers first. */
  readonly channels: Readonly<Record<string, number>>;
}

const countedDays = [7, 30, 90, 365];

/** @param pages subscriptions of a project. @param onProgress gets how many were counted so far. */
export async function countAudience(
  pages: AsyncIterable<readonly Pick<SubscriptionItem, 'updatedAt' | 'channels'>[]>,
  now: Date,
  onProgress: (counted: number) => void,
): Promise<AudienceCounts> {
  const since = countedDays.map((days) => seenSince(now, days));
  const seen = countedDays.map(() => 0);
  const byChannel = new Map<string, number>();
  let subscribers = 0;
  for await (const page of pages) {
    for (const { updatedAt, channels = [] } of page) {
      for (const [index, time] of since.entries()) if (updatedAt >= time) seen[index]! += 1;
      for (const name of channels) byChannel.set(name, (byChannel.get(name) ?? 0) + 1);
    }
    subscribers += page.length;
    onProgress(subscribers);
  }
  return {
    subscribers,
    seenWithinDays: Object.fromEntries(countedDays.map((days, index) => [days, seen[index]!])),
    channels: Object.fromEntries([...byChannel].sort(([, one], [, other]) => other - one)),
  };
}
