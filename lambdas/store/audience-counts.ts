import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { ProjectRef } from '../../contract/project.ts';
import { type AudienceCounts, countedDays } from '../../contract/schemas/project.ts';
import { seenSince } from './audience.ts';
import type { SubscriptionItem } from './items.ts';
import { partCount, projectPart } from './subscription-keys.ts';

type Counted = Pick<SubscriptionItem, 'updatedAt' | 'channels'>;
type Pages = AsyncIterable<readonly Counted[]> | Iterable<readonly Counted[]>;

/** Subscriptions of a sample: all of a project with fewer. */
const sampleSize = 1000;

/**
 * Reads a sample of a project's subscriptions, the same number from each partition. The hashes of endpoints, in
 * whose order they are read, are evenly distributed.
 */
export function subscriptionSample(dynamo: DynamoDBDocumentClient, table: string) {
  return (
    project: ProjectRef,
    abortSignal?: AbortSignal,
  ): Promise<readonly (readonly Counted[])[]> =>
    Promise.all(
      Array.from({ length: partCount }, async (_, part) => {
        const { Items = [] } = await dynamo.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: 'projectPart = :part',
            ExpressionAttributeValues: { ':part': projectPart(project, part) },
            ProjectionExpression: 'updatedAt, channels',
            Limit: sampleSize / partCount,
          }),
          { abortSignal },
        );
        return Items as Counted[];
      }),
    );
}

/**
 * Counts how many subscribers a send with each condition would select.
 * @param pages subscriptions of a project.
 * @param onProgress gets how many were counted so far.
 */
export async function countAudience(
  pages: Pages,
  now: Date,
  onProgress: (counted: number) => void = () => {},
): Promise<AudienceCounts> {
  const since = countedDays.map((days) => seenSince(now.getTime(), Number(days)));
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
    seenWithinDays: Object.fromEntries(
      countedDays.map((days, index) => [days, seen[index]!]),
    ) as AudienceCounts['seenWithinDays'],
    channels: Object.fromEntries(byChannel),
  };
}
