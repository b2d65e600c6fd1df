import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { RouteName } from '../../contract/wire/routes.ts';
import { isConditionFailure } from './dynamo.ts';
import type { RateLimitItem } from './items.ts';

const minute = 60_000;

export type RateLimitStore = ReturnType<typeof rateLimitStore>;

export interface CountedRequest {
  readonly projectId: string;
  readonly route: RouteName;
  readonly address: string;
}

/** Counts whole UTC minutes. The minute is in the key, so items that TTL deletes late do no harm. */
export function rateLimitStore(dynamo: DynamoDBDocumentClient, table: string, clock: () => Date) {
  // Buckets that have reached their limit, all of the same minute.
  const exhausted = new Set<string>();
  let exhaustedMinute = 0;

  function bucketOf({ projectId, route, address }: CountedRequest) {
    const time = clock().getTime();
    const currentMinute = Math.floor(time / minute);
    if (currentMinute !== exhaustedMinute) {
      exhausted.clear();
      exhaustedMinute = currentMinute;
    }
    const bucket: RateLimitItem['bucket'] = `${projectId}#${route}#${address}#${currentMinute}`;
    const secondsLeft = Math.ceil((minute - (time % minute)) / 1000);
    return { bucket, secondsLeft, expiresAt: ((currentMinute + 2) * minute) / 1000 };
  }

  return {
    /**
     * The same as `count` from this function's memory, without a call.
     * @returns the seconds until the next minute if it has refused such a request in this one, else 0.
     */
    refused(request: CountedRequest): number {
      const { bucket, secondsLeft } = bucketOf(request);
      return exhausted.has(bucket) ? secondsLeft : 0;
    },

    /**
     * Counts one request of an address in the current minute. Refused requests are not counted.
     * @returns 0 if it is within the limit, else the seconds until the next minute: 1 to 60.
     */
    async count(
      request: CountedRequest,
      limit: number,
      abortSignal?: AbortSignal,
    ): Promise<number> {
      const { bucket, secondsLeft, expiresAt } = bucketOf(request);
      try {
        await dynamo.send(
          new UpdateCommand({
            TableName: table,
            Key: { bucket },
            UpdateExpression: 'SET expiresAt = :expiresAt ADD hits :one',
            ConditionExpression: 'attribute_not_exists(hits) OR hits < :limit',
            ExpressionAttributeValues: { ':one': 1, ':limit': limit, ':expiresAt': expiresAt },
          }),
          { abortSignal },
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
