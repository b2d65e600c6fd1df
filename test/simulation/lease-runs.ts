import { sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { deliver } from '../../lambdas/deliver/deliver.ts';
import { inFlight } from '../../lambdas/push/pushing/push-service.ts';
import { startPushingWith } from '../../lambdas/push/pushing/pusher.ts';
import { NotStartedError } from '../../lambdas/push/transport/response.ts';
import { finalCounts, isOver } from '../../lambdas/results/summary.ts';
import { unavailable } from '../../lambdas/store/dynamo.ts';
import {
  type Division,
  positionCount,
  positionOf,
  type SliceItem,
} from '../../lambdas/store/items.ts';
import { type SliceStore, sliceStore, storedSlice } from '../../lambdas/store/slices.ts';
import { silentObserver } from '../fixtures/silent-observer.ts';
import { fcm, mozilla } from '../fixtures/virtual-pushing.ts';
import { project, recipients, slice, startMs } from '../lambdas/deliver/delivery-setup.ts';
import { type Item, MemoryDatabase, tables } from './database/memory-database.ts';
import { isClaimed } from './report.ts';
import { Scheduler } from './time/scheduler.ts';
import { timers } from './time/timers.ts';

/**
 * All runs of two invocations that deliver one slice with the code that runs on AWS, in virtual time: two chunks for two
 * push services, one of which is so slow that it is behind when an invocation ends. Each write of the slice is a choice
 * of what becomes of it, and of its writer. Then Lambda starts further attempts, without a fault, until the slice ends.
 */

/** What becomes of a write that does not simply succeed. */
const fates = [
  'is lost',
  'has no response',
  'has a response after its try',
  'arrives late',
  'is lost, and its writer dies',
  'is stored, and its writer dies',
  'waits while its writer stands still',
  'is stored, and its writer stands still',
  'meets a stop',
] as const;
type Fate = (typeof fates)[number];

/** Chooses one of so many ways; the first one is the way without a fault. */
type Choose = (ways: number) => number;

export interface LeaseRuns {
  readonly runs: number;
  /** How many writes were made in all of them. */
  readonly writes: number;
  /** What is wrong, after what has happened in the first run with a fault. */
  readonly fault: string | undefined;
}

const audience = recipients(6).map((one, index) => ({
  ...one,
  origin: [fcm, mozilla, mozilla][index % 3]!,
}));
/** The first two chunks have three recipients each. Of those who are behind then, the next invocation reads two more. */
const own = slice({ step: positionCount / 2 });

/** An invocation pushes for five seconds, and ends 15 s later. */
const lastsMs = 20_000;
const responseMs: Readonly<Record<string, number>> = { [fcm]: 10, [mozilla]: 6000 };
/** Longer than an invocation, so that another one has taken the slice. */
const stillMs = 24_000;

const { clockDifferenceMs } = sliceTimeline;
const division: Division = {
  ...{ subscribers: audience.length, conditions: {}, respondedAsync: true },
  ...{ slices: 1, countersPerSlice: 1 },
};

/** Times of invocations that short. The second one with time left is the last. */
export function useShortTimes(): void {
  Object.assign(sliceTimeline, {
    ...{ timeoutMs: lastsMs + 2000, lastChunkBeforeMs: 2000 },
    ...{ attempts: 2, attemptMs: lastsMs / 2 },
  });
}

/** @param mostFaults in one run. One call at most is late. */
export async function exploreRuns(mostFaults: number): Promise<LeaseRuns> {
  let [runs, writes] = [0, 0];
  for (let prefix: number[] | undefined = []; prefix; runs += 1) {
    const taken: { choice: number; readonly ways: number }[] = [];
    const choose: Choose = (ways) => {
      const choice = prefix![taken.length] ?? 0;
      taken.push({ choice, ways });
      return choice;
    };
    const run = new LeaseRun(choose, mostFaults);
    await run.run();
    writes += run.writes;
    const { fault } = run;
    if (fault !== undefined) return { runs, writes, fault: [...run.events, fault].join('\n') };
    // The next one in the order of choices.
    while (taken.length > 0 && taken.at(-1)!.choice + 1 === taken.at(-1)!.ways) taken.pop();
    prefix = taken.length === 0 ? undefined : taken.map(({ choice }) => choice);
    if (prefix) prefix[prefix.length - 1]! += 1;
  }
  return { runs, writes, fault: undefined };
}

/** By whom a recipient was pushed to, and when that had the response. */
interface Pushed {
  readonly by: string;
  /** Epoch ms. */
  heardAt: number;
}

/** An invocation. */
interface Running {
  readonly name: string;
  isDead: boolean;
  /** Epoch ms. */
  stillUntil: number;
  die: () => void;
}

class LeaseRun {
  readonly events: string[] = [];
  fault: string | undefined;
  writes = 0;
  readonly #choose: Choose;
  readonly #time = new Scheduler(startMs);
  readonly #database = new MemoryDatabase({ now: () => this.#time.now });
  readonly #store = sliceStore(this.#database.client(), tables.deliveries);
  readonly #pushed = new Map<string, Pushed>();
  /** Of each invocation: when it has made the last of its writes that are stored. */
  readonly #storedAt = new Map<string, number>();
  #faultsLeft: number;
  #stoppedAt = Number.POSITIVE_INFINITY;
  /** Whether an invocation has died or stood still. */
  #isDisturbed = false;
  /** Executes the call that arrives late. */
  #late: (() => Promise<unknown>) | undefined;
  #hadLate = false;

  constructor(choose: Choose, mostFaults: number) {
    this.#choose = choose;
    this.#faultsLeft = mostFaults;
  }

  async run(): Promise<void> {
    const time = this.#time;
    // Lambda may start a function twice for one event.
    const isTwice = this.#choose(2) === 1;
    if (isTwice) this.events.push('two start at once');
    const first = this.#invoke('1');
    // A lease is over when its invocation is.
    const next = Promise.race([first.left, time.sleep(lastsMs + clockDifferenceMs + 1)]);
    if (!isTwice) await time.until(next);
    const second = this.#invoke('2');
    await time.until(Promise.all([first.over, second.over]));
    this.#faultsLeft = 0;
    await this.#arriveLate();
    for (const name of ['3', '4']) if (!this.#isOver()) await time.until(this.#invoke(name).over);
    this.#judge();
  }

  /** @returns `left`: when its code has ended. `over`: or it has died. */
  #invoke(name: string): { readonly left: Promise<unknown>; readonly over: Promise<unknown> } {
    const time = this.#time;
    const running: Running = { name, isDead: false, stillUntil: 0, die: () => {} };
    const after = (ms: number, act: () => void) => {
      const happen = (): void => {
        if (running.isDead) return;
        if (time.now < running.stillUntil) time.at(running.stillUntil, happen);
        else act();
      };
      // As `setTimeout`: in the fraction of a millisecond, no clock would go on.
      time.after(Math.ceil(ms), happen);
    };
    const { sleep, abortAfter } = timers(after);
    const { clock } = time;
    const random = () => 0;
    const never = new Promise<never>(() => {});
    const startPushing = startPushingWith({
      transport: ({ origin, path, mayStart }) => {
        if (running.isDead) return never;
        if (!mayStart()) return Promise.reject(new NotStartedError());
        const push = this.#push(name, origin, path);
        return new Promise((resolve) => {
          after(responseMs[origin]!, () => {
            push.heardAt = time.now;
            resolve({ status: 201, headers: {}, body: '' });
          });
        });
      },
      ...{ sign: () => 'vapid', clock, sleep, random, extraOrigins: [] },
      inFlight: { ...inFlight, perPushService: 1, initial: 1, minimum: 1 },
    });
    const left = deliver(
      {
        ...{ startPushing, clock, sleep, abortAfter, random, observe: silentObserver },
        audiences: {
          everyone: async (_, { from, to }) => ({
            ...{ to, unread: 0 },
            recipients: audience.filter(({ endpointHash: hash }) => {
              const position = positionOf(hash);
              return from <= position && position < to;
            }),
          }),
          ...{ users: () => never, isOf: () => never },
        },
        subscriptions: { removeBatch: () => never, mark: () => never, correctPair: () => never },
        projects: { refresh: async () => project },
        eventCounters: { create: async () => {} },
        slices: {
          find: this.#store.find,
          write: (...call) => this.#write(running, after, ...call),
        },
      },
      own,
      name,
      time.now + lastsMs,
    ).catch(() => {});
    const died = new Promise<void>((resolve) => {
      running.die = () => {
        running.isDead = true;
        resolve();
      };
    });
    return { left, over: Promise.race([left, died]) };
  }

  async #write(
    running: Running,
    after: (ms: number, act: () => void) => void,
    ...[key, write, signal]: Parameters<SliceStore['write']>
  ): ReturnType<SliceStore['write']> {
    const time = this.#time;
    const { name } = running;
    const calledAt = time.now;
    this.writes += 1;
    if (this.#late && this.#choose(2) === 1) await this.#arriveLate();
    const fate = this.#fate();
    if (fate) {
      const { by, n } = write.event.id;
      this.events.push(`${calledAt - startMs} ms: the write ${by} ${n} ${fate}`);
    }
    const { ended, counts } = write;
    this.#expect(
      ended !== undefined || counts.unreached === 0,
      `${name} counts ${counts.unreached} as unreached, and the slice goes on`,
    );
    const execute = async () => {
      const before = this.#item();
      const refused = await this.#store.write(key, write);
      if (refused !== undefined) return refused;
      const wasOver =
        before && isOver(storedSlice(before as unknown as SliceItem), new Date(calledAt));
      this.#expect(!wasOver, `${name} writes, and the slice is over`);
      this.#storedAt.set(name, calledAt);
      return undefined;
    };
    type Response = Awaited<ReturnType<typeof execute>>;
    const responding = (call: () => Promise<Response>) =>
      new Promise<Response>((resolve) => after(1, () => void call().then(resolve)));
    const without = () =>
      new Promise<never>((_, reject) => {
        signal!.addEventListener('abort', () => reject(unavailable(signal!.reason)));
      });
    const standStill = () => {
      this.#isDisturbed = true;
      running.stillUntil = time.now + stillMs;
    };
    const die = () => {
      this.#isDisturbed = true;
      running.die();
    };
    switch (fate) {
      case 'is lost':
        return without();
      case 'has no response':
        await execute();
        return without();
      case 'has a response after its try': {
        const refused = await execute();
        // Before the next try begins.
        return new Promise((resolve) => after(sliceTimeline.tryMs + 50, () => resolve(refused)));
      }
      case 'arrives late':
        this.#late = execute;
        return without();
      case 'is lost, and its writer dies':
        die();
        return without();
      case 'is stored, and its writer dies':
        die();
        await execute();
        return without();
      case 'waits while its writer stands still':
        standStill();
        return responding(execute);
      case 'is stored, and its writer stands still': {
        const refused = await execute();
        standStill();
        return responding(async () => refused);
      }
      case 'meets a stop':
        this.#stoppedAt = time.now;
        await this.#store.stop(key, time.now);
    }
    return responding(execute);
  }

  #fate(): Fate | undefined {
    if (this.#faultsLeft === 0) return undefined;
    const possible = fates.filter(
      (fate) =>
        !(fate === 'arrives late' && this.#hadLate) &&
        !(fate === 'meets a stop' && this.#stoppedAt < Number.POSITIVE_INFINITY),
    );
    const fate = [undefined, ...possible][this.#choose(1 + possible.length)];
    if (fate) this.#faultsLeft -= 1;
    if (fate === 'arrives late') this.#hadLate = true;
    return fate;
  }

  async #arriveLate(): Promise<void> {
    const late = this.#late;
    if (late === undefined) return;
    this.#late = undefined;
    this.events.push(`${this.#time.now - startMs} ms: the late write arrives`);
    await late();
  }

  /** A push begins: the slice is its invocation's, and its recipient is claimed and was not pushed to. */
  #push(by: string, origin: string, path: string): Pushed {
    const item = this.#item() ?? {};
    const { endpointHash } = audience.find((one) => one.path === path)!;
    this.#expect(!this.#pushed.has(path), `${path} is pushed to twice`);
    this.#expect(
      isClaimed({ item }, origin, endpointHash),
      `${path} is pushed to, and not claimed`,
    );
    this.#expect(
      String(item.leasedBy).startsWith(`${by}/`) && item.ended === undefined,
      `${by} pushes, and the slice is not its own`,
    );
    this.#expect(
      this.#time.now <= this.#stoppedAt + sliceTimeline.lastPushAfterStopMs,
      `${by} pushes after a stop`,
    );
    const push = { by, heardAt: Number.POSITIVE_INFINITY };
    this.#pushed.set(path, push);
    return push;
  }

  /** Everyone is counted once, as far as an invocation could store it. */
  #judge(): void {
    const state = storedSlice(this.#item() as unknown as SliceItem);
    const isStopped = state.stoppedAt !== undefined;
    this.#expect(state.ended !== undefined || isStopped, 'no end is reached');
    const { attempted, delivered, unreached, failures } = finalCounts({ division }, [state]);
    const pushed = [...this.#pushed.values()];
    const told = pushed.filter(({ by, heardAt }) => heardAt < (this.#storedAt.get(by) ?? 0));
    const { interrupted = 0 } = failures;
    const text = JSON.stringify({ attempted, delivered, unreached, interrupted });
    const counted = `of ${audience.length}, ${pushed.length} were pushed to, ${told.length} stored`;
    const isTrue =
      attempted + unreached === audience.length &&
      attempted === delivered + interrupted &&
      attempted >= pushed.length &&
      delivered >= told.length &&
      delivered <= pushed.length &&
      (this.#isDisturbed || interrupted === 0);
    this.#expect(isTrue, `${text}, but ${counted}`);
  }

  #isOver(): boolean {
    const { ended, stoppedAt } = this.#item() ?? {};
    return ended !== undefined || stoppedAt !== undefined;
  }

  /** The slice as it is stored. */
  #item(): Item | undefined {
    return this.#database.items(tables.deliveries)[0];
  }

  #expect(isTrue: boolean, otherwise: string): void {
    if (!isTrue) this.fault ??= `${this.#time.now - startMs} ms: ${otherwise}`;
  }
}
