import { createHmac } from 'node:crypto';
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { RouteName } from '../../contract/wire/routes.ts';
import type { Host } from '../host.ts';
import { isConditionFailure } from './dynamo.ts';
import type { AddressKeyItem, RateLimitItem } from './items.ts';

const minute = 60_000;
const minutesPerDay = 24 * 60;

/** An address with several keys of a project, and the network of an IPv6 address, may make this many times more requests. */
const widerFactor = 10;

export type RateLimitStore = ReturnType<typeof rateLimitStore>;

export interface CountedRequest {
  readonly projectId: string;
  readonly route: RouteName;
  /** Of the caller. Of an IPv6 address its /64. */
  readonly address: string;
  /** Of an IPv6 address its /48. */
  readonly network?: string | undefined;
  /** Tells the keys of a project apart. Undefined if the request has none. */
  readonly keyId?: string | undefined;
}

/** What has its own limit. */
interface Counted {
  readonly bucket: RateLimitItem['bucket'];
  /** Attribute of the item that counts the requests with one key. */
  readonly ofKey?: string | undefined;
}

/** The key with which addresses of a UTC day are hashed. */
interface DayKey {
  readonly day: number;
  readonly key: Uint8Array;
}

/**
 * Counts whole UTC minutes. The minute is in the key, so items that TTL deletes late do no harm. Addresses are hashed with
 * a random key, which all functions share for a UTC day, and which then expires like the counts.
 * @param random from 0 to below 1: draws the requests that are counted against their network.
 */
export function rateLimitStore(
  dynamo: DynamoDBDocumentClient,
  table: string,
  clock: () => Date,
  { random, randomBytes }: Pick<Host, 'random' | 'randomBytes'>,
) {
  let known: DayKey | undefined;
  // Buckets, and keys in buckets, that have reached a limit, with the limit, all of the same minute.
  const exhausted = new Map<string, number>();
  let exhaustedMinute = 0;

  function currentMinute(): number {
    const now = Math.floor(clock().getTime() / minute);
    if (now !== exhaustedMinute) {
      exhausted.clear();
      exhaustedMinute = now;
    }
    return now;
  }

  function secondsLeft(): number {
    return Math.ceil((minute - (clock().getTime() % minute)) / 1000);
  }

  function currentDay(): number {
    return Math.floor(currentMinute() / minutesPerDay);
  }

  /** The key of the current day. The first function that asks creates it, and all get that one. */
  async function keyOfDay(abortSignal: AbortSignal | undefined): Promise<DayKey> {
    const day = currentDay();
    if (known?.day === day) return known;
    const { Attributes } = await dynamo.send(
      new UpdateCommand({
        TableName: table,
        Key: { bucket: `key#${day}` },
        UpdateExpression:
          'SET addressKey = if_not_exists(addressKey, :new), expiresAt = :expiresAt',
        ExpressionAttributeValues: {
          ':new': randomBytes(32),
          ':expiresAt': (((day + 1) * minutesPerDay + 2) * minute) / 1000,
        },
        ReturnValues: 'ALL_NEW',
      }),
      { abortSignal },
    );
    known = { day, key: (Attributes as AddressKeyItem).addressKey };
    return known;
  }

  /** The address first. */
  function countedIn(
    { projectId, route, address, network, keyId }: CountedRequest,
    { key }: DayKey,
  ) {
    const now = currentMinute();
    const bucketOf = (text: string) => {
      const hash = createHmac('sha256', key).update(text).digest('base64url');
      return `${projectId}#${route}#${hash}#${now}`;
    };
    const ofAddress: Counted = {
      bucket: bucketOf(address),
      ofKey: keyId === undefined ? undefined : `key ${keyId}`,
    };
    return network === undefined ? [ofAddress] : [ofAddress, { bucket: bucketOf(network) }];
  }

  async function countOne(
    { bucket, ofKey }: Counted,
    limit: number,
    abortSignal: AbortSignal | undefined,
  ): Promise<number> {
    const most = ofKey === undefined ? limit : widerFactor * limit;
    const below = (name: string, value: string) =>
      `(attribute_not_exists(${name}) OR ${name} < ${value})`;
    try {
      await dynamo.send(
        new UpdateCommand({
          TableName: table,
          Key: { bucket },
          UpdateExpression: `SET expiresAt = :expiresAt ADD hits :one${ofKey ? ', #key :one' : ''}`,
          ConditionExpression:
            below('hits', ':most') + (ofKey ? ` AND ${below('#key', ':limit')}` : ''),
          ExpressionAttributeNames: ofKey === undefined ? undefined : { '#key': ofKey },
          ExpressionAttributeValues: {
            ':one': 1,
            ':most': most,
            ':limit': ofKey === undefined ? undefined : limit,
            ':expiresAt': ((currentMinute() + 2) * minute) / 1000,
          },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
        { abortSignal },
      );
      return 0;
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      const isKeyOnly = Number(error.Item?.hits) < most;
      exhausted.set(isKeyOnly ? bucket + ofKey : bucket, limit);
      return secondsLeft();
    }
  }

  return {
    /**
     * The same as `count` from this function's memory, without a call.
     * @returns the seconds until the next minute if it has refused such a request in this one, and the limit has not been
     *   raised since; else 0.
     */
    refused(request: CountedRequest, limit: number): number {
      // Without the day's key it has refused nobody yet.
      if (known?.day !== currentDay()) return 0;
      const isExhausted = countedIn(request, known).some(({ bucket, ofKey = '' }) =>
        [bucket, bucket + ofKey].some((name) => limit <= (exhausted.get(name) ?? 0)),
      );
      return isExhausted ? secondsLeft() : 0;
    },

    /**
     * Counts one request in the current minute, unless it is refused: against its address and key; against its address
     * with all keys; and, of ten requests one, against its network. A function's first request of a day also reads the key.
     * @returns 0 if it is within the limits, else the seconds until the next minute: 1 to 60.
     */
    async count(request: CountedRequest, limit: number, signal?: AbortSignal): Promise<number> {
      const key = await keyOfDay(signal);
      const [ofAddress, ofNetwork] = countedIn(request, key) as [Counted, Counted?];
      const isDrawn = ofNetwork !== undefined && random() < 1 / widerFactor;
      const counts = await Promise.all([
        countOne(ofAddress, limit, signal),
        isDrawn ? countOne(ofNetwork, limit, signal) : 0,
      ]);
      return Math.max(...counts);
    },
  };
}
