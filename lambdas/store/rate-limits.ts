import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { RouteName } from '../../contract/routes.ts';
import { isConditionFailure } from './dynamo.ts';
import type { RateLimitItem } from './items.ts';

const minute = 60_000;

export interface RateLimitStore {
  /**
   * Counts one request of an address in the present minute. Refused ones are not counted.
   * @returns 0 where it is within the limit, else the seconds until the next minute: 1 to 60.
   */
  count(request: CountedRequest, limit: number): Promise<number>;

  /**
   * What this function knows without a call.
   * @returns the seconds until the next minute where it has refused such a request in this one, else 0.
   */
  refused(request: CountedRequest): number;
}

export interface CountedRequest {
  readonly projectId: string;
  readonly action: RouteName;
  readonly address: string;
}

/** Windows are whole UTC minutes: the minute is in the key, so an item that TTL leaves is inert. */
export function rateLimitStore(
  dynamo: DynamoDBDocumentClient,
  table: string,
  clock: () => Date,
): RateLimitStore {
  // Buckets that this function has found at their limit, all of one minute.
  const exhausted = new Set<string>();
  let exhaustedMinute = 0;

  function bucketOf({ projectId, action, address }: CountedRequest) {
    const time = clock().getTime();
    const present = Math.floor(time / minute);
    if (present !== exhaustedMinute) {
      exhausted.clear();
      exhaustedMinute = present;
    }
    const bucket: RateLimitItem['bucket'] = `${projectId}#${action}#${address}#${present}`;
    const secondsLeft = Math.ceil((minute - (time % minute)) / 1000);
    return { bucket, secondsLeft, expiresAt: ((present + 2) * minute) / 1000 };
  }

  return {
    refused(request) {
      const { bucket, secondsLeft } = bucketOf(request);
      return exhausted.has(bucket) ? secondsLeft : 0;
    },

    async count(request, limit) {
      const { bucket, secondsLeft, expiresAt } = bucketOf(request);
      if (exhausted.has(bucket)) return secondsLeft;
      try {
        await dynamo.send(
          new UpdateCommand({
            TableName: table,
            Key: { bucket },
            UpdateExpression: 'SET expiresAt = :expiresAt ADD hits :one',
            ConditionExpression: 'attribute_not_exists(hits) OR hits < :limit',
            ExpressionAttributeValues: { ':one': 1, ':limit': limit, ':expiresAt': expiresAt },
          }),
        );
        return 0;
      } catch (error) {
        if (!isConditionFailure(error)) throw error;
        exhausted.add(bucket);
        return secondsLeft;
      }
    },
  };
}
