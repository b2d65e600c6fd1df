import { model } from './model.ts';

/** Seconds of units that may wait for a partition until calls are refused and repeated: none here. */
const windowMs = 1000;

/** Units that one partition has used, by the second. */
class Partition {
  readonly reads = new Map<number, number>();
  readonly writes = new Map<number, number>();
}

/**
 * Throughput of the partitions. A call waits until its partition has capacity, as a throttled call that
 * is repeated does.
 */
export class PartitionLoad {
  readonly #partitions = new Map<string, Partition>();
  readUnits = 0;
  writeUnits = 0;

  /** @returns ms until the partition can execute a call of this size. */
  use(partition: string, now: number, readUnits: number, writeUnits: number): number {
    let used = this.#partitions.get(partition);
    if (used === undefined) {
      used = new Partition();
      this.#partitions.set(partition, used);
    }
    this.readUnits += readUnits;
    this.writeUnits += writeUnits;
    return Math.max(
      take(used.reads, now, readUnits, model.partitionReadUnits.value),
      take(used.writes, now, writeUnits, model.partitionWriteUnits.value),
    );
  }

  /** The most that one partition executed within a second. */
  busiest(): { readonly reads: number; readonly writes: number } {
    let [reads, writes] = [0, 0];
    for (const partition of this.#partitions.values()) {
      for (const units of partition.reads.values()) reads = Math.max(reads, units);
      for (const units of partition.writes.values()) writes = Math.max(writes, units);
    }
    return { reads, writes };
  }
}

function take(used: Map<number, number>, now: number, units: number, perSecond: number): number {
  if (units === 0) return 0;
  let left = units;
  for (let second = Math.floor(now / windowMs); ; second += 1) {
    const before = used.get(second) ?? 0;
    const taken = Math.min(left, Math.max(0, perSecond - before));
    used.set(second, before + taken);
    left -= taken;
    if (left <= 0) return Math.max(0, second * windowMs - now);
  }
}
