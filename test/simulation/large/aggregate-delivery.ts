import type { Recipient } from '../../../contract/audience.ts';
import type { Chunk, ChunkReport, Deliver } from '../../../lambdas/push/delivery/deliver-chunk.ts';
import type { Random } from '../time/random.ts';
import type { Scheduler } from '../time/scheduler.ts';
import { model } from './model.ts';

/** Time between two steps of a chunk. */
const stepMs = 100;

/**
 * Delivers a chunk in aggregate: as many pushes per step as the processor, the pace and the pushes in
 * flight allow. Those that are gone are removed with real calls.
 */
export function aggregateDelivery(scheduler: Scheduler, random: Random): Deliver {
  return (chunk) => {
    let started = 0;
    let delivered = 0;
    let removed = 0;
    let notRemoved = 0;
    const removals: Promise<void>[] = [];
    const { length } = chunk.recipients;
    const perStep = (perSecond: number) => (perSecond * stepMs) / 1000;
    const rate = Math.min(
      perStep(1e6 / model.cpuPerPush.value),
      perStep(chunk.pushesPerSecond),
      perStep((model.inFlight.value * 1000) / model.pushLatency.value),
    );
    const report = (unreached: number): ChunkReport => ({
      attempted: delivered + removed + notRemoved,
      delivered,
      removed,
      failed: notRemoved,
      failures: notRemoved > 0 ? { not_removed: notRemoved } : {},
      unreached,
    });
    const end = new AbortController();
    scheduler.at(chunk.endAt, () => end.abort());
    const done = new Promise<ChunkReport>((resolve) => {
      let carried = 0;
      const step = () => {
        carried += scheduler.now >= chunk.lastPushAt ? 0 : rate;
        const now = Math.min(Math.floor(carried), length - started);
        carried -= now;
        const gone = goneAmong(chunk.recipients.slice(started, started + now), random);
        started += now;
        delivered += now - gone.length;
        for (const batch of batchesOf(gone, chunk)) removals.push(remove(batch));
        if (started < length && scheduler.now < chunk.lastPushAt) scheduler.after(stepMs, step);
        else scheduler.after(model.pushLatency.value, finish);
      };
      const finish = () => {
        void Promise.all(removals).then(() => resolve(report(length - started)));
      };
      step();
    });
    return { done, soFar: () => report(0) };

    async function remove(batch: readonly Recipient[]): Promise<void> {
      try {
        await chunk.remove(batch, end.signal);
        removed += batch.length;
      } catch {
        notRemoved += batch.length;
      }
    }
  };
}

function goneAmong(recipients: readonly Recipient[], random: Random): Recipient[] {
  return recipients.filter(() => random.chance(model.goneShare.value));
}

/** By groups, as the real delivery removes them; a batch per step and group, which is more calls. */
function batchesOf(gone: readonly Recipient[], chunk: Chunk): Recipient[][] {
  const groups = new Map<number, Recipient[]>();
  for (const recipient of gone) {
    const group = chunk.removalGroup(recipient);
    groups.set(group, [...(groups.get(group) ?? []), recipient]);
  }
  return [...groups.values()];
}
