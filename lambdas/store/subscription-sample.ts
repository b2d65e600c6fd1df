import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { lookupTags } from '../../contract/wire/languages.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import { type AudienceCounts, countedDays } from '../../contract/wire/project-result.ts';
import { pushServiceOf } from '../../contract/wire/push-services.ts';
import { seenSince } from './audience.ts';
import { projection } from './dynamo.ts';
import { partitionCount, projectPart, type SubscriptionItem } from './items.ts';

const countedFields = { updatedAt: true, channels: true, locale: true, origin: true } as const;
type Counted = Pick<SubscriptionItem, keyof typeof countedFields>;
const counted = projection<Counted>(countedFields);

/** Subscriptions of a sample: all of a project with fewer. */
const sampleSize = 1000;

/**
 * Reads a sample of a project's subscriptions, the same number from each partition. The hashes of endpoints, in
 * whose order they are read, are evenly distributed.
 */
export function subscriptionSample(dynamo: DynamoDBDocumentClient, table: string) {
  return async (project: ProjectRef, abortSignal?: AbortSignal): Promise<readonly Counted[]> => {
    const parts = await Promise.all(
      Array.from({ length: partitionCount }, async (_, part) => {
        const { Items = [] } = await dynamo.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: 'projectPart = :part',
            ExpressionAttributeValues: { ':part': projectPart(project, part) },
            ...counted,
            Limit: sampleSize / partitionCount,
          }),
          { abortSignal },
        );
        return Items as Counted[];
      }),
    );
    return parts.flat();
  };
}

/** Counts how many subscriptions a send with each condition would select, and those of each push service. */
export function countAudience(subscriptions: readonly Counted[], now: Date): AudienceCounts {
  const isSeen = (days: string) => {
    const since = seenSince(now.getTime(), Number(days));
    return ({ updatedAt }: Counted) => updatedAt >= since;
  };
  const countBy = (keysOf: (one: Counted) => readonly string[], of = subscriptions) => {
    const counts = new Map<string, number>();
    for (const key of of.flatMap(keysOf)) counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  };
  // Also of an origin that the deployment no longer accepts.
  const serviceOf = ({ origin }: Counted) => [pushServiceOf(origin, []) ?? origin];
  const seen = countBy(serviceOf, subscriptions.filter(isSeen('30')));
  return {
    subscribers: subscriptions.length,
    seenWithinDays: Object.fromEntries(
      countedDays.map((days) => [days, subscriptions.filter(isSeen(days)).length]),
    ) as AudienceCounts['seenWithinDays'],
    channels: Object.fromEntries(countBy(({ channels = [] }) => channels)),
    locales: Object.fromEntries(countBy(({ locale }) => (locale ? lookupTags(locale) : []))),
    pushServices: Object.fromEntries(
      [...countBy(serviceOf)].map(([name, subscribers]) => [
        name,
        { subscribers, seenWithin30Days: seen.get(name) ?? 0 },
      ]),
    ),
  };
}
