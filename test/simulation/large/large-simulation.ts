import type { Recipient } from '../../../contract/audience.ts';
import type { SigningProject } from '../../../contract/project.ts';
import type { Slice } from '../../../contract/slice.ts';
import { sliceTimeline } from '../../../contract/timeline.ts';
import { type DeliverDependencies, deliver } from '../../../lambdas/deliver/deliver.ts';
import { getNotification } from '../../../lambdas/get-notification/get-notification.ts';
import { send } from '../../../lambdas/send/send.ts';
import type { SliceStarter } from '../../../lambdas/send/sending.ts';
import { uuidV7 } from '../../../lambdas/send/uuid-v7.ts';
import type { AudienceStore } from '../../../lambdas/store/audience.ts';
import { utcMonth } from '../../../lambdas/store/calendar.ts';
import { newSubscriberParts, sumOf } from '../../../lambdas/store/counters.ts';
import { deliveriesOf } from '../../../lambdas/store/deliveries.ts';
import { eventCounterStore } from '../../../lambdas/store/event-counters.ts';
import { notificationStore } from '../../../lambdas/store/notifications.ts';
import { sendStore } from '../../../lambdas/store/sends.ts';
import { sliceStore } from '../../../lambdas/store/slices.ts';
import {
  hashRanges,
  partCount,
  partOf,
  positionCount,
  positionOf,
} from '../../../lambdas/store/subscription-keys.ts';
import type { SubscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { usedParts } from '../../../lambdas/store/usage.ts';
import { clientWith } from '../../fixtures/client-with.ts';
import { knownProject } from '../../fixtures/known-project.ts';
import { silentObserver } from '../../fixtures/silent-observer.ts';
import { type DatabaseCommand, MemoryDatabase, tables } from '../database/memory-database.ts';
import { Random } from '../time/random.ts';
import { Scheduler } from '../time/scheduler.ts';
import { aggregateDelivery } from './aggregate-delivery.ts';
import { model } from './model.ts';
import { PartitionLoad } from './partition-load.ts';

export interface LargeSend {
  readonly subscribers: number;
  readonly respondAsync: boolean;
  readonly pushesPerSecond: number;
  readonly seed: number;
  /** Functions of the account that may run at once. */
  readonly concurrency: number;
  /** Ms for which Lambda keeps an invocation in its queue, half of them. Default: 20. */
  readonly queueMs?: number;
}

export interface LargeReport {
  readonly functions: number;
  /** From the request to the end of the last function. */
  readonly seconds: number;
  readonly attempted: number;
  readonly unreached: number;
  /** The most units per second that one partition executed. */
  readonly busiest: { readonly reads: number; readonly writes: number };
  readonly dollars: number;
}

const project: SigningProject = {
  ...knownProject,
  plan: { monthlySendCap: null },
  vapid: { current: { number: 0, publicKey: '', privateKey: '' } },
};

/** One recipient stands for all of its part: only the part of its hash matters here. */
const recipients = Array.from({ length: partCount }, (_, part): Recipient => {
  const endpointHash = new Uint8Array(32).fill((part * 256) / partCount);
  const [p256dh, auth] = [new Uint8Array(65), new Uint8Array(16)];
  return { endpointHash, origin: 'https://fcm.googleapis.com', path: '/', p256dh, auth };
});

/** Sends to a large audience: the real code of send and deliver on a model of the rest. */
export async function simulateLarge(settings: LargeSend): Promise<LargeReport> {
  const { subscribers, respondAsync, pushesPerSecond, seed, concurrency, queueMs = 20 } = settings;
  const random = new Random(seed);
  const startsAt = Date.parse('2026-11-20T12:00:00Z');
  const scheduler = new Scheduler(startsAt, random);
  const load = new PartitionLoad();
  let wait = 0;
  const database = new MemoryDatabase({
    now: () => scheduler.now,
    onUse: ({ table, partition, readUnits, writeUnits }) => {
      const key = `${table} ${partition}`;
      wait = Math.max(wait, load.use(key, scheduler.now, readUnits, writeUnits));
    },
  });
  database.put(tables.projects, { projectId: project.projectId, ref: project.ref });
  const parts = newSubscriberParts(project.ref, subscribers);
  for (const part of parts) database.put(tables.usage, { ...part });

  let running = 1;
  let started = 0;
  let functions = 1;
  let functionMs = 0;
  let endedAt = startsAt;

  const passed = scheduler.sleep;
  const dynamo = clientWith(async (command: DatabaseCommand) => {
    await passed(random.latency(model.callLatency.value / 1.6, 100));
    wait = 0;
    const result = database.execute(command);
    await passed(wait);
    return result;
  });

  const sliceDependencies = (): DeliverDependencies => ({
    audiences: largeAudience(),
    subscriptions: { removeBatch, correctPair: async () => {} },
    projects: { refresh: async () => project },
    slices: sliceStore(dynamo, tables.deliveries, scheduler.sleep),
    eventCounters: eventCounterStore(dynamo, tables.deliveries),
    startPushing: aggregateDelivery(scheduler, random),
    clock: scheduler.clock,
    sleep: scheduler.sleep,
    abortAfter: scheduler.abortAfter,
    observe: {
      ...silentObserver,
      cancelFailed({ notificationId }, error) {
        throw new Error(`Not cancelled: ${notificationId}`, { cause: error });
      },
    },
  });

  const starter: SliceStarter = {
    async start(slice) {
      await passed(random.latency(model.invokeLatency.value / 1.6, 300));
      void runQueued(slice);
      return true;
    },
  };

  const sending = run(async (_, id) => {
    const used = await usedParts(dynamo, tables.usage)(project.ref, utcMonth(scheduler.clock()));
    return send(
      {
        ...sliceDependencies(),
        sends: sendStore(dynamo, tables),
        notifications: notificationStore(dynamo, tables.notifications),
        starter,
        random: () => random.next(),
        newId: (time) =>
          uuidV7(time, (length) => Uint8Array.from({ length }, () => random.integer(0, 255))),
        monthlyCap: 10_000,
        pushesPerSecond,
      },
      project,
      {
        request: { title: 'A notification' },
        audience: { subscribers: sumOf(used.subscribers) },
        sent: used.sends,
        respondAsync,
        baseUrl: 'https://api.example',
        requestId: id,
        startedAt: new Date(startsAt),
      },
    );
  });
  await scheduler.run();
  const outcome = await sending;
  const id = outcome.kind === 'sent' ? outcome.result.id : outcome.id;
  const reading = getNotification(
    {
      notifications: notificationStore(dynamo, tables.notifications),
      deliveries: deliveriesOf(dynamo, tables.deliveries, scheduler.sleep),
      clock: scheduler.clock,
    },
    project,
    id,
  );
  await scheduler.run();
  const stored = await reading;
  // Of a request that waits: what it says, also if functions end later.
  const { attempted, unreached = 0 } = outcome.kind === 'sent' ? outcome.result : stored;
  const computing = (functionMs / 1000) * model.memory.value * model.gigabyteSecond.value;
  return {
    functions,
    seconds: (endedAt - startsAt) / 1000,
    attempted,
    unreached,
    busiest: load.busiest(),
    dollars:
      computing + load.readUnits * model.readUnit.value + load.writeUnits * model.writeUnit.value,
  };

  function runDeliver(slice: Slice) {
    return run((endsAt, id) => deliver(sliceDependencies(), slice, id, endsAt));
  }

  /** All attempts that Lambda makes of an asynchronous invocation: two more after the first. */
  async function runQueued(slice: Slice): Promise<void> {
    await passed(random.latency(queueMs / 1.6, 10 * queueMs));
    for (const retryAfterMs of [60_000, 120_000, undefined]) {
      try {
        await runDeliver(slice);
        return;
      } catch (error) {
        if (retryAfterMs === undefined) throw error;
        await passed(retryAfterMs);
      }
    }
  }

  /** Runs a function, once Lambda has an environment for it. */
  async function run<Result>(
    body: (endsAt: number, id: string) => Promise<Result>,
  ): Promise<Result> {
    started += 1;
    functions = started;
    const id = `function ${started}`;
    // Environments beyond the first thousand become available evenly.
    const perMs = model.newEnvironments.value / 10_000;
    const environmentAt = startsAt + Math.max(0, started - model.newEnvironments.value) / perMs;
    await passed(Math.max(0, environmentAt - scheduler.now));
    while (running >= concurrency && started > 1) await passed(100);
    running += 1;
    const startedAt = scheduler.clock().getTime();
    await passed(random.latency(model.coldStart.value / 1.6, 5000));
    const { lastWritesMs, timeoutMs } = sliceTimeline;
    try {
      return await body(startedAt + timeoutMs - lastWritesMs, id);
    } finally {
      running -= 1;
      functionMs += scheduler.now - startedAt;
      endedAt = Math.max(endedAt, scheduler.now);
    }
  }

  /** Reads as many recipients as are to be expected, page by page, and uses the processor for them. */
  function largeAudience(): AudienceStore {
    return {
      async everyone(_, { from, to }, { consistent }) {
        const found: Recipient[][] = [];
        let cpuMs = 0;
        await Promise.all(
          hashRanges(from, to).map(async ({ part, first, last }) => {
            const positions = positionOf(last) - positionOf(first) + 1;
            const expected = (subscribers * positions) / positionCount;
            const deviation = random.next() + random.next() + random.next() - 1.5;
            const number = Math.max(0, Math.round(expected + 2 * deviation * Math.sqrt(expected)));
            found.push(new Array<Recipient>(number).fill(recipients[part]!));
            let bytes = number * model.itemBytes.value;
            do {
              const page = Math.min(bytes, model.pageBytes.value);
              const units = Math.ceil(Math.max(1, page / 4096)) * (consistent ? 1 : 0.5);
              const wait = load.use(`Subscriptions ${part}`, scheduler.now, units, 0);
              await passed(wait + random.latency(model.pageLatency.value / 1.6, 500));
              cpuMs += model.cpuPerQuery.value / 1000;
              bytes -= page;
            } while (bytes > 0);
            cpuMs += (number * model.cpuPerRecipientRead.value) / 1000;
          }),
        );
        await passed(cpuMs);
        const all = found.flat();
        return { recipients: all, to, unread: 0 };
      },
      users() {
        throw new Error('Not simulated.');
      },
      isOf() {
        throw new Error('Not simulated.');
      },
    };
  }

  /** A transaction of the deletions and of the counter of their part. */
  async function removeBatch(
    ...[, hashes]: Parameters<SubscriptionStore['removeBatch']>
  ): Promise<number> {
    const part = partOf(hashes[0]!);
    const wait = Math.max(
      load.use(`Subscriptions ${part}`, scheduler.now, 0, 2 * hashes.length),
      load.use(`Usage subscribers#${part}`, scheduler.now, 0, 2),
    );
    await passed(wait + random.latency(model.callLatency.value, 200));
    return hashes.length;
  }
}
