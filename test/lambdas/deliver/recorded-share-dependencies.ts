import type { Recipient } from '../../../contract/audience.ts';
import { type Counts, noCounts } from '../../../contract/counts.ts';
import type { SigningProject } from '../../../contract/project.ts';
import type { Share } from '../../../contract/share.ts';
import type { ShareDependencies } from '../../../lambdas/deliver/deliver-share.ts';
import type { Invocation } from '../../../lambdas/deliver/share-progress.ts';
import type { TallyItem } from '../../../lambdas/store/items.ts';
import { positionCount } from '../../../lambdas/store/subscription-keys.ts';
import { tallyStore } from '../../../lambdas/store/tallies.ts';
import type { Chunk } from '../../fixtures/chunk.ts';
import { silentObserver } from '../../fixtures/silent-observer.ts';
import { MemoryDatabase, tables } from '../../simulation/database/memory-database.ts';
import { Scheduler } from '../../simulation/time/scheduler.ts';
import { type FakeChunk, fakePusher, type PushChunk } from './fake-pusher.ts';

export const startMs = Date.parse('2026-11-20T12:00:00Z');

export const project: SigningProject = {
  projectId: 'shop',
  createdAt: '2026-11-01T00:00:00.000Z',
  secretKeyHash: '',
  vapid: { current: { number: 0, publicKey: 'public', privateKey: 'private' } },
  plan: {},
};

/** A share of everyone, for a caller who waits. Its audience is one chunk. */
export function share(change: Partial<Share> = {}): Share {
  return {
    projectId: 'shop',
    projectCreatedAt: project.createdAt,
    notificationId: '01890a5d-ac96-774b-bcce-b302099a8057',
    content: { title: 'T' },
    requestId: 'request',
    eventsUrl: 'https://push.example.com/events',
    eventWindowSeconds: 0,
    firstTally: 0,
    tallies: 1,
    from: 0,
    to: positionCount,
    step: positionCount,
    consistent: true,
    expiresAt: 1_900_000_000,
    pushesPerSecond: 20_000,
    deadline: { lastPushAt: startMs + 22_000, endAt: startMs + 25_000 },
    ...change,
  };
}

/** An invocation of 27 s, or that of a function that may run for 15 minutes. */
export const invocation: Invocation = { id: 'invocation', endsAt: startMs + 27_000 };
export const longInvocation: Invocation = { id: 'long', endsAt: startMs + 15 * 60_000 - 2000 };

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
export function allDelivered({ recipients: { length } }: Pick<Chunk, 'recipients'>): Counts {
  return { ...noCounts, attempted: length, delivered: length };
}

/** A chunk that never ends, because its function dies. */
export function dying(soFar: Counts = noCounts): FakeChunk {
  return { done: new Promise(() => {}), soFar: () => soFar };
}

export interface Recorded {
  /** What the stores were called for and which chunks were pushed, in order. */
  readonly calls: string[];
  readonly chunks: Chunk[];
  /** What becomes of a chunk, unless a test says otherwise. */
  readonly push: PushChunk;
  readonly time: Scheduler;
  /** Paths of the recipients that were pushed to, in order. */
  pushed(): readonly string[];
  /** Stores the tallies of a share that was prepared. */
  begin(prepared: readonly TallyItem[]): void;
}

/**
 * Dependencies in virtual time, which record their calls. A chunk takes 1 s, and all its pushes are accepted.
 * A user id has one subscription, with that path.
 * @param limit recipients that are read at most.
 */
export function recordedShareDependencies(
  audience: readonly Recipient[] = [],
  overrides: Partial<ShareDependencies> = {},
  limit = 30_000,
): Recorded & { readonly deps: ShareDependencies } {
  const time = new Scheduler();
  const database = new MemoryDatabase({ now: () => time.now });
  const calls: string[] = [];
  const chunks: Chunk[] = [];
  /** Where the next chunk of each share starts. */
  const positions = new Map<number, number>();
  const read = (found: readonly Recipient[]) => ({
    recipients: found.slice(0, limit),
    isCut: found.length > limit,
  });
  const push: PushChunk = (chunk) => {
    calls.push(`deliver ${chunk.recipients.length}`);
    chunks.push(chunk);
    const done = time.sleep(1000).then(() => allDelivered(chunk));
    return { done, soFar: () => noCounts };
  };
  const tallies = overrides.tallies ?? tallyStore(database.client(), tables.tallies);
  const deps: ShareDependencies = {
    audiences: {
      async everyone(_, { from, to }) {
        calls.push(`everyone ${from}-${to}`);
        const position = (hash: Uint8Array) => Buffer.from(hash).readUInt32BE();
        return read(
          audience.filter(
            ({ endpointHash }) => from <= position(endpointHash) && position(endpointHash) < to,
          ),
        );
      },
      async users(_, userIds, { from, to }) {
        const asked = userIds.slice(from, to);
        calls.push(`users ${asked}`);
        const found = asked.map((userId, index) => ({
          ...recipient(userId, new Uint8Array(32)),
          user: from + index,
        }));
        return read(found);
      },
    },
    subscriptions: {
      removeBatch: async (projectId, hashes) => {
        calls.push(`remove ${hashes.length} of ${projectId}`);
        return hashes.length;
      },
      correctPair: async (projectId, _, vapidPairNumber) => {
        calls.push(`pair ${vapidPairNumber} in ${projectId}`);
      },
    },
    projects: {
      refresh: async () => {
        calls.push('refresh');
        return project;
      },
    },
    startPushing: fakePusher(push),
    clock: () => new Date(startMs + time.now),
    sleep: time.sleep,
    abortAfter: time.abortAfter,
    observe: {
      ...silentObserver,
      delivered: () => calls.push('observe'),
      failed: (_, pushService) => calls.push(`failed at ${pushService}`),
      throttled: ({ firstTally }) => calls.push(`throttled ${firstTally}`),
      recordFailed: (_, error) => calls.push(`not recorded: ${(error as Error).message}`),
      sent: (_, { unreached, failures: { interrupted = 0 } }) =>
        calls.push(`sent, ${unreached} unreached, ${interrupted} interrupted`),
      cancelFailed: (_, error) => calls.push(`not cancelled: ${(error as Error).message}`),
    },
    ...overrides,
    tallies: {
      ...tallies,
      save: async (key, writer, progress, signal) => {
        const { position, pending, counts, ended = 'not ended' } = progress;
        const other = await tallies.save(key, writer, progress, signal);
        const isClaim = position !== positions.get(key.firstTally);
        if (other !== undefined) calls.push(`not ${key.firstTally}`);
        else if (isClaim) calls.push(`claim ${key.firstTally} to ${position}, ${pending} pending`);
        else calls.push(`save ${counts.attempted} attempted, ${pending} pending, ${ended}`);
        if (other === undefined) positions.set(key.firstTally, position);
        return other;
      },
      open: async (key, tally, signal) => {
        calls.push(`open ${tally}`);
        return tallies.open(key, tally, signal);
      },
    },
  };
  const pushed = () => chunks.flatMap((chunk) => chunk.recipients.map(({ path }) => path));
  const begin = (prepared: readonly TallyItem[]) => {
    for (const item of prepared) {
      const number = Number(item.tally.split('#')[1]);
      database.put(tables.tallies, { ...item });
      if (item.claimedBy === undefined) calls.push(`open ${number}`);
      else calls.push(`claim ${number} to ${item.position}, ${item.pending} pending`);
      if (item.position !== undefined) positions.set(number, item.position);
    }
  };
  return { deps, calls, chunks, push, time, pushed, begin };
}
