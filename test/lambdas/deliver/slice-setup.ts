import type { Recipient } from '../../../contract/audience.ts';
import { type Counts, noCounts } from '../../../contract/counts.ts';
import type { SigningProject } from '../../../contract/project.ts';
import type { Slice } from '../../../contract/slice.ts';
import { CurrentProject } from '../../../lambdas/deliver/current-project.ts';
import { deadlinesOfRequest } from '../../../lambdas/deliver/deadlines.ts';
import { type DeliverDependencies, deliver } from '../../../lambdas/deliver/deliver.ts';
import { deliverSlice, workOn } from '../../../lambdas/deliver/deliver-slice.ts';
import { eventCounterStore } from '../../../lambdas/store/event-counters.ts';
import { type StoredSlice, sliceStore } from '../../../lambdas/store/slices.ts';
import { positionCount } from '../../../lambdas/store/subscription-keys.ts';
import { knownProject } from '../../fixtures/known-project.ts';
import { silentObserver } from '../../fixtures/silent-observer.ts';
import { MemoryDatabase, tables } from '../../simulation/database/memory-database.ts';
import { Scheduler } from '../../simulation/time/scheduler.ts';
import { type AddedChunk, type FakeChunk, fakePusher, type PushChunk } from './fake-pusher.ts';

export const startMs = Date.parse('2026-11-20T12:00:00Z');
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
    ...{ firstCounter: 0, counters: 1, conditions: {} },
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

/** How a chunk ends if all its pushes are accepted. */
export function allDelivered({ recipients: { length } }: Pick<AddedChunk, 'recipients'>): Counts {
  return { ...noCounts, attempted: length, delivered: length };
}

/** A chunk that never ends, because its function dies. */
export function dying(soFar: Counts = noCounts): FakeChunk {
  return { done: new Promise(() => {}), soFar: () => soFar };
}

interface SetupOptions {
  readonly audience?: readonly Recipient[];
  /** Ms that the pushes to a chunk take. */
  readonly chunkMs?: number;
  readonly overrides?: Partial<DeliverDependencies>;
}

/**
 * Dependencies in virtual time, with the real store of slices on a model of the database. They record their calls. All
 * pushes are accepted. A user id has one subscription, with that path.
 */
export function sliceSetup({ audience = [], chunkMs = 1000, overrides = {} }: SetupOptions = {}) {
  const time = new Scheduler(startMs);
  const database = new MemoryDatabase({ now: () => time.now });
  const slices = sliceStore(database.client(), tables.deliveries);
  const counters = eventCounterStore(database.client(), tables.deliveries);
  const calls: string[] = [];
  const chunks: AddedChunk[] = [];
  /** Ms after the start at which pushes were stopped. */
  const stops: number[] = [];
  const push: PushChunk = (chunk) => {
    calls.push(`push ${chunk.recipients.length}`);
    chunks.push(chunk);
    const done = time.sleep(chunkMs).then(() => allDelivered(chunk));
    return { done, soFar: () => noCounts };
  };
  const onStop = () => stops.push(time.now - startMs);
  const positionOf = ({ endpointHash }: Recipient) => Buffer.from(endpointHash).readUInt32BE();
  const deps: DeliverDependencies = {
    audiences: {
      async everyone(_, { from, to }) {
        calls.push(`everyone ${from}-${to}`);
        const found = audience.filter((one) => from <= positionOf(one) && positionOf(one) < to);
        return { recipients: found, to, unread: 0 };
      },
      async users(_, userIds, { from, to }) {
        const asked = userIds.slice(from, to);
        calls.push(`users ${asked}`);
        const found = asked.map((userId, index) => ({
          ...recipient(userId, new Uint8Array(32)),
          user: from + index,
        }));
        return { recipients: found, to, unread: 0 };
      },
      isOf: async (_, userId) => userId !== 'gone',
    },
    subscriptions: {
      removeBatch: async (of, hashes) => {
        calls.push(`remove ${hashes.length} of ${of}`);
        return hashes.length;
      },
      correctPair: async (of, _, number) => void calls.push(`pair ${number} in ${of}`),
    },
    projects: { refresh: async () => project },
    startPushing: fakePusher(push, onStop),
    clock: time.clock,
    sleep: time.sleep,
    abortAfter: time.abortAfter,
    eventCounters: {
      open: async (counter, signal) => {
        calls.push(`open ${counter.id.split('#')[1]}`);
        return counters.open(counter, signal);
      },
    },
    slices: {
      find: slices.find,
      write: async (key, write, signal) => {
        const other = await slices.write(key, write, signal);
        const { attempted } = write.counts;
        const state = `${attempted} attempted, ${write.pending} pending${write.ended ? ', ended' : ''}`;
        calls.push(other === undefined ? `write ${state}` : 'refused');
        return other;
      },
    },
    observe: {
      ...silentObserver,
      delivered: (_, { isStopped }) => calls.push(`delivered${isStopped ? ', stopped' : ''}`),
      recordFailed: (_, error) => calls.push(`not stored: ${(error as Error).message}`),
    },
    ...overrides,
  };

  /** Starts deliver, as Lambda invokes it. */
  const start = (change: Partial<Slice> = {}, by = 'mine', its = deps, lastsMs = 15 * minute) =>
    deliver(its, slice(change), by, time.now + lastsMs - 2000);
  /** Starts to deliver a slice, as a request does. */
  const startHere = async (change: Partial<Slice> = {}, its = deps) => {
    const current = new CurrentProject(its.projects, time.clock, project, time.now);
    const work = workOn(its, slice({ ...awaited, ...change }), 'here', deadlinesOfRequest(startMs));
    return { ...(await deliverSlice(its, current, work)), work };
  };
  return {
    ...{ deps, database, calls, chunks, stops, push, time, slices, start, startHere },
    run: (...call: Parameters<typeof start>) => time.until(start(...call)),
    runHere: (...call: Parameters<typeof startHere>) => time.until(startHere(...call)),
    pushed: () => chunks.flatMap((chunk) => chunk.recipients.map(({ path }) => path)),
    /** Until this many ms after the start. */
    until: (ms: number) => time.until(time.sleep(startMs + ms - time.now)),
    async stored(number = 0): Promise<StoredSlice | undefined> {
      return (await slices.find(slice().notificationId, [number]))[0];
    },
  };
}

export type SliceSetup = ReturnType<typeof sliceSetup>;
