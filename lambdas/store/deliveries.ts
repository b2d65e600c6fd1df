import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { batchGet, type Sleep } from './dynamo.ts';
import { type EventCounterItem, eventCounterId, type SliceItem, sliceId } from './items.ts';
import type { StoredNotification } from './notifications.ts';
import { type StoredSlice, storedSlice } from './slices.ts';

/** What is stored of the delivery of a notification. */
export interface Delivery {
  /** Undefined for those that nobody has had or stopped. */
  readonly slices: readonly (StoredSlice | undefined)[];
  /** Events counted. */
  readonly shown: number;
  readonly clicked: number;
}

/** Items that {@link deliveriesOf} reads for a notification. */
export function itemsOf({ division }: Pick<StoredNotification, 'division'>): number {
  return division.slices * (1 + division.countersPerSlice);
}

/** Reads the slices and the event counters of notifications, with one call for every 100 items. */
export function deliveriesOf(dynamo: DynamoDBDocumentClient, table: string, sleep?: Sleep) {
  return async (
    notifications: readonly Pick<StoredNotification, 'id' | 'division'>[],
    signal?: AbortSignal,
  ): Promise<readonly Delivery[]> => {
    const ids = notifications.map(({ id, division }) => ({
      slices: numbers(division.slices).map((slice) => sliceId(id, slice)),
      counters: numbers(division.slices * division.countersPerSlice).map((counter) =>
        eventCounterId(id, counter),
      ),
    }));
    const keys = ids.flatMap(({ slices, counters }) => [...slices, ...counters]);
    const found = await batchGet<SliceItem | EventCounterItem>(
      dynamo,
      table,
      keys.map((id) => ({ id })),
      signal,
      sleep,
    );
    const items = new Map(found.map((item) => [item.id, item]));
    return ids.map(({ slices, counters }) => {
      const ofSlices = slices.map((id) => items.get(id) as SliceItem | undefined);
      const ofCounters = counters.map((id) => items.get(id) as EventCounterItem | undefined);
      return {
        slices: ofSlices.map((item) => item && storedSlice(item)),
        shown: sum(ofCounters.map((item) => item?.shown)),
        clicked: sum(ofCounters.map((item) => item?.clicked)),
      };
    });
  };
}

export type ReadDeliveries = ReturnType<typeof deliveriesOf>;

function numbers(length: number): readonly number[] {
  return Array.from({ length }, (_, number) => number);
}

function sum(counted: readonly (number | undefined)[]): number {
  return counted.reduce<number>((total, number = 0) => total + number, 0);
}
