import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { RouteName } from '../contract/routes.ts';
import { isConditionFailure } from './dynamo.ts';
import type { RateLimitItem } from './items.ts';

const minute = 60_000;

export interface RateLimitStore {
  /**
   * Counts one request of an address in the present minute. Refused ones are not counted.
   * @returns 0 where it is within the limit, else the seconds until the next minute: 1 to 60.
   */
  count(request: CountedRequest, limit: number): Promise<number>;
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
  // What this function already knows to be over: answered without a write.
  const exhausted = new Set<string>();
  let exhaustedMinute = 0;

  return {
    async count({ projectId, action, address }, limit) {
      const time = clock().getTime();
      const now = Math.floor(time / minute);
      const toNextMinute = Math.ceil((minute - (time % minute)) / 1000);
      if (now !== exhaustedMinute) {
        exhausted.clear();
        exhaustedMinute = now;
      }
      const bucket: RateLimitItem['bucket'] = `${projectId}#${action}#${address}#${now}`;
      if (exhausted.has(bucket)) return toNextMinute;
      try {
        await dynamo.send(
          new UpdateCommand({
            TableName: table,
            Key: { bucket },
            UpdateExpression: 'SET expiresAt = :expiresAt ADD hits :one',
            ConditionExpression: 'attribute_not_exists(hits) OR hits < :limit',
            ExpressionAttributeValues: {
              ':one': 1,
              ':limit': limit,
              ':expiresAt': ((now + 2) * minute) / 1000,
            },
          }),
        );
        return 0;
      } catch (error) {
        if (!isConditionFailure(error)) throw error;
        exhausted.add(bucket);
        return toNextMinute;
      }
    },
  };
}
