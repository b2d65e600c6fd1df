import type { Recipient, Slice } from '../../../contract/infrastructure/slice.ts';
import { type Counts, noCounts } from '../../../contract/wire/counts.ts';
import type { SigningProject } from '../../../contract/wire/project.ts';
import { deadlinesOfRequest } from '../../../lambdas/deliver/deadlines.ts';
import { type DeliverDependencies, deliver } from '../../../lambdas/deliver/deliver.ts';
import { CurrentProject, SliceDelivery } from '../../../lambdas/deliver/deliver-slice.ts';
import { type SendOutcome, send } from '../../../lambdas/send/send.ts';
import {
  keyHashOf,
  type SendCall,
  type SendDependencies,
  usersOf,
} from '../../../lambdas/send/sending.ts';
import { audienceStore } from '../../../lambdas/store/audience.ts';
import { newParts, sumOf, usedParts, utcMonth } from '../../../lambdas/store/counters.ts';
import { unavailable } from '../../../lambdas/store/dynamo.ts';
import {
  endpointHash,
  positionCount,
  projectUser,
  subscriptionKey,
} from '../../../lambdas/store/items.ts';
import { eventCounterStore, notificationStore } from '../../../lambdas/store/notifications.ts';
import { sendStore } from '../../../lambdas/store/sends.ts';
import { type Progress, type StoredSlice, sliceStore } from '../../../lambdas/store/slices.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { knownProject } from '../../fixtures/known-project.ts';
import { silentObserver } from '../../fixtures/silent-observer.ts';
import { MemoryDatabase, tables } from '../../simulation/database/memory-database.ts';
import { Scheduler } from '../../simulation/time/scheduler.ts';
import { type AddedChunk, type FakeChunk, fakePusher, type PushChunk } from './fake-pusher.ts';

export const startMs = Date.parse('2026-11-20T12:00:00Z');
const month = '2026-11';
const minute = 60_000;

export const project: SigningProject = {
  ...knownProject,
  vapid: { current: { number: 0, publicKey: 'public', privateKey: 'private' } },
};

/** A slice of everyone that nobody waits for. Its audience is one chunk. */
export function slice(change: Partial<Slice> = {}): Slice {
  return {
    ...{ projectId: 'shop', project: project.ref },
    notificationId: '01890a5d-ac96-774b-bcce-b302099a8057',
    ...{ slice: 0, requestId: 'request', sentAt: startMs, content: { title: 'T' } },
    ...{ eventsUrl: 'https://push.example.com/events', eventWindowSeconds: 0 },
    ...{ firstCounter: 0, counters: 1, conditions: {}, extraOrigins: [] },
    ...{ from: 0, to: positionCount, step: positionCount, consistent: true },
    ...{ expiresAt: 1_900_000_000, pushesPerSecond: 20_000 },
    ...change,
  };
}

/** The same, for a caller who waits since now. */
export const awaited = { awaitedSince: startMs };

/** As many recipients, at the same distance from each other. Their paths are `/0`, `/1` and so on. */
export function recipients(count: number): readonly Recipient[] {
  return Array.from({ length: count }, (_, index) => {
    const endpointHash = Buffer.alloc(32);
    endpointHash.writeUInt32BE(Math.floor(((index + 0.5) * positionCount) / count));
    return recipient(`/${index}`, endpointHash);
  });
}

function recipient(path: string, endpointHash: Uint8Array): Recipient {
  const [p256dh, auth] = [new Uint8Array(65), new Uint8Array(16)];
  return { endpointHash, origin: 'https://web.push.apple.com', path, p256dh, auth };
}

/** The error of a call to a database that is busy. */
export const throttled = unavailable(new Error('throttled'));

/** How a chunk ends if all its pushes are accepted. */
export function allDelivered({ recipients: { length } }: Pick<AddedChunk, 'recipients'>): Counts {
  return { ...noCounts, attempted: length, delivered: length };
}

/** A chunk that never ends, because its function dies. */
export function dying(soFar: Counts = noCounts): FakeChunk {
  return { done: new Promise(() => {}), soFar: () => soFar };
}

interface SetupOptions {
  /** By default three. */
  readonly audience?: readonly Recipient[];
  /** User ids with one subscription each, whose path is the id. */
  readonly userIds?: readonly string[];
  /** Ms that the pushes to a chunk take. */
  readonly chunkMs?: number;
  /** How each chunk ends: by default all pushes are accepted. */
  readonly counts?: Counts;
  readonly overrides?: Partial<SendDependencies>;
}

/**
 * Send and deliver in virtual time, with all their real stores on a model of the database. Writes and pushes are
 * recorded. A slice that send starts is delivered by a function at once, unless a test says otherwise.
 */
export function deliverySetup({
  audience = recipients(3),
  userIds = [],
  chunkMs = 1000,
  counts,
  overrides = {},
}: SetupOptions = {}) {
  const time = new Scheduler(startMs);
  const database = new MemoryDatabase({ now: () => time.now });
  const dynamo = database.client();
  for (const part of newParts({ project: project.ref }, audience.length)) {
    database.put(tables.usage, { ...part });
  }
  const users = userIds.map((userId) => ({
    ...recipient(userId, endpointHash(project, userId)),
    projectUser: projectUser(project.ref, userId),
    userSince: startMs,
  }));
  for (const one of [...audience, ...users]) {
    const key = subscriptionKey(project.ref, one.endpointHash);
    database.put(tables.subscriptions, { ...one, ...key, createdAt: startMs - minute });
  }
  const slices = sliceStore(dynamo, tables.deliveries);
  const counters = eventCounterStore(dynamo, tables.deliveries);
  const calls: string[] = [];
  const chunks: AddedChunk[] = [];
  /** Slices that send has started. */
  const started: Slice[] = [];
  /** Ms after the start at which pushes were stopped. */
  const stops: number[] = [];
  let [ids, requests] = [0, 0];
  const push: PushChunk = (chunk) => {
    calls.push(`push ${chunk.recipients.length}`);
    chunks.push(chunk);
    const done = time.sleep(chunkMs).then(() => counts ?? allDelivered(chunk));
    return { done, soFar: () => noCounts };
  };
  const onStop = () => stops.push(time.now - startMs);
  /** A function that delivers a slice. */
  const deliverElsewhere = (slice: Slice) =>
    void startSlice(
      ...[slice, `function ${slice.slice}`, deps, slice.awaitedSince ? 29_000 : 15 * minute],
    ).catch(() => {});
  const deps: SendDependencies = {
    audiences: audienceStore(dynamo, tables.subscriptions),
    subscriptions: subscriptionStore(dynamo, tables, time.clock),
    projects: { refresh: async () => project },
    startPushing: fakePusher(push, onStop),
    clock: time.clock,
    sleep: time.sleep,
    abortAfter: time.abortAfter,
    eventCounters: {
      create: async (counter, signal) => {
        calls.push(`create ${counter.id.split('#')[1]}`);
        return counters.create(counter, signal);
      },
    },
    slices: {
      find: slices.find,
      write: async (key, write, signal) => {
        const refused = await slices.write(key, write, signal);
        const { attempted } = write.counts;
        const state = `${attempted} attempted, ${pendingOf(write)} pending${write.ended ? ', ended' : ''}`;
        calls.push(refused === undefined ? `write ${state}` : 'refused');
        return refused;
      },
    },
    sends: sendStore(dynamo, tables),
    notifications: notificationStore(dynamo, tables.notifications, time.clock),
    starter: {
      async start(slice) {
        started.push(slice);
        deliverElsewhere(slice);
        return true;
      },
    },
    random: () => 0.5,
    newId: () => {
      ids += 1;
      return `01890a5d-ac96-774b-bcce-${String(ids).padStart(12, '0')}`;
    },
    monthlyCap: 10_000,
    notificationDays: 90,
    pushesPerSecond: 20_000,
    extraOrigins: [],
    observe: {
      ...silentObserver,
      delivered: (_slice, _state, isStopped) =>
        calls.push(`delivered${isStopped ? ', stopped' : ''}`),
      recordFailed: (_, error) => calls.push(`not stored: ${(error as Error).message}`),
      responded: (_, { unreached }, _unjudged, isStopped) =>
        calls.push(`responded, ${unreached} unreached${isStopped ? ', stopped' : ''}`),
      notTaken: ({ slice }) => calls.push(`not taken ${slice}`),
      cancelFailed: (_, error) => calls.push(`not cancelled: ${(error as Error).message}`),
    },
    ...overrides,
  };

  /** Starts deliver, as Lambda invokes it. */
  function startSlice(
    change: Partial<Slice> = {},
    by = 'mine',
    its: DeliverDependencies = deps,
    lastsMs = 15 * minute,
  ): Promise<void> {
    return deliver(its, slice(change), by, time.now + lastsMs - 2000);
  }

  /** Starts to deliver a slice, as a request does. */
  async function startHere(change: Partial<Slice> = {}, its: DeliverDependencies = deps) {
    const current = new CurrentProject(its.projects, time.clock, project, time.now);
    const deadlines = deadlinesOfRequest(startMs);
    const one = slice({ ...awaited, ...change });
    const work = { slice: one, state: undefined, by: 'here', deadlines };
    const left = await new SliceDelivery(its, current, work).run();
    return { ...left, hasEnded: left.state?.ended !== undefined };
  }

  /** A request that reaches the gateway now, and the function a second later. */
  async function startSend(
    change: Partial<SendCall> = {},
    its: SendDependencies = deps,
    sender: SigningProject = project,
  ): Promise<SendOutcome> {
    const startedAt = time.clock();
    await time.sleep(1000);
    const request = change.request ?? { title: 'T' };
    const { idempotencyKey: key } = change;
    const { sentAt = time.clock() } = change;
    const used = await usedParts(dynamo, tables.usage)(project.ref, utcMonth(sentAt));
    requests += 1;
    return send(its, sender, {
      ...{ respondAsync: false, baseUrl: 'https://push.example.com', startedAt, sentAt },
      ...{ requestId: `request ${requests}`, sent: used.sends },
      earlier:
        key === undefined
          ? undefined
          : await its.sends.earlier(project.ref, keyHashOf(key), time.clock()),
      audience: usersOf(request) ?? { subscribers: audience.length },
      ...change,
      request,
    });
  }

  return {
    ...{ deps, database, calls, chunks, stops, started, push, time, slices, deliverElsewhere },
    ...{ startSlice, startHere, startSend },
    run: (...call: Parameters<typeof startSlice>) => time.until(startSlice(...call)),
    runHere: (...call: Parameters<typeof startHere>) => time.until(startHere(...call)),
    send: (...call: Parameters<typeof startSend>) => time.until(startSend(...call)),
    pushed: () => chunks.flatMap((chunk) => chunk.recipients.map(({ path }) => path)),
    /** Until this many ms after the start. */
    until: (ms: number) => time.until(time.sleep(startMs + ms - time.now)),
    async stored(number = 0): Promise<(StoredSlice & { pending: number }) | undefined> {
      const [found] = await slices.find(slice().notificationId, [number]);
      return found && { ...found, pending: pendingOf(found) };
    },
    /** Notifications of the month. */
    sent: async () => sumOf((await usedParts(dynamo, tables.usage)(project.ref, month)).sends),
    /** The stored notifications that were not cancelled. */
    notifications: () =>
      database.items(tables.notifications).filter(({ content }) => content !== undefined),
  };
}

/** Recipients whose outcome is not stored. */
export function pendingOf({ claimed, counts }: Progress): number {
  return claimed - counts.attempted - counts.unreached;
}

export type DeliverySetup = ReturnType<typeof deliverySetup>;

/** The result of a send for whose counts the caller waits. */
export function resultOf(outcome: SendOutcome) {
  if (outcome.kind !== 'sent') throw new Error(JSON.stringify(outcome));
  return outcome.result;
}
