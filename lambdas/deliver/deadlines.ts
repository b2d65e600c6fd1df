import { sendTimeline, sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import type { Slice } from '../../contract/infrastructure/slice.ts';
import { ServiceError } from '../../contract/wire/errors.ts';
import { unavailable } from '../store/dynamo.ts';

/** When the work of an invocation on a slice has to end: epoch ms. */
export interface Deadlines {
  /** No further recipients are read from then on. */
  readonly lastChunkAt: number;
  /** No push starts after this. */
  readonly lastPushAt: number;
  /** Pushes in flight and removals end by this. */
  readonly pushEndAt: number;
  /** The lease ends by this. The invocation does nothing later. */
  readonly endsAt: number;
}

/** The deadlines of the deliver function. @param endsAt when Lambda ends it, less the time of the last writes. */
export function deadlinesOfFunction({ awaitedSince }: Slice, endsAt: number): Deadlines {
  if (awaitedSince !== undefined) {
    const earlier = deadlinesOfRequest(awaitedSince - sendTimeline.lookBeforeMs);
    const { slicesEndMs, lookBeforeMs } = sendTimeline;
    return { ...earlier, endsAt: awaitedSince + slicesEndMs - lookBeforeMs };
  }
  const lastPushAt = endsAt - sliceTimeline.lastPushBeforeEndMs;
  return {
    lastChunkAt: lastPushAt - sliceTimeline.lastChunkBeforeMs,
    lastPushAt,
    pushEndAt: endsAt - sliceTimeline.lastWritesMs,
    endsAt,
  };
}

/** The deadlines of a request whose caller waits. @param startedAt when it reached the gateway: epoch ms. */
export function deadlinesOfRequest(startedAt: number): Deadlines {
  const lastPushAt = startedAt + sendTimeline.lastPushMs;
  return {
    lastChunkAt: lastPushAt,
    lastPushAt,
    pushEndAt: startedAt + sendTimeline.pushEndMs,
    endsAt: startedAt + sendTimeline.endMs,
  };
}

export interface Timers {
  readonly clock: () => Date;
  /** Resolves after this many ms; rejects when the signal aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<unknown>;
  /** A signal that aborts after this many ms, 0 at least. */
  readonly abortAfter: (ms: number) => AbortSignal;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/**
 * Milliseconds before the second try, doubled before each further one up to the longest. Near the deadline, half of the
 * time left. Half of each pause is random.
 */
const firstPauseMs = 200;
const longestPauseMs = 2000;

interface Tries {
  /** Ms after which a try is given up, and the next one begins. */
  readonly tryMs?: number;
  readonly signal?: AbortSignal;
  /** Whether a call that failed so is repeated. Default: if it is `unavailable`. */
  readonly isRepeated?: (error: unknown) => boolean;
}

/**
 * Makes a call to the database or to Lambda, and repeats it while it fails. Calls that are due again soon, or have a
 * limit of their own, do not go through here.
 * @param deadline epoch ms. No try begins later, and the last one is given up then.
 * @throws what the last try has thrown.
 */
export async function whileTimeIsLeft<Result>(
  timers: Timers,
  deadline: number,
  call: (signal: AbortSignal) => Promise<Result>,
  { tryMs = sliceTimeline.tryMs, signal, isRepeated = isUnavailable }: Tries = {},
): Promise<Result> {
  const { clock, sleep, random } = timers;
  const msLeft = () => Math.max(0, deadline - clock().getTime());
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      if (msLeft() === 0) throw unavailable(new Error('The time is over.'));
      return await withinTime(timers, Math.min(tryMs, msLeft()), call, signal);
    } catch (error) {
      const isOver = signal?.aborted || msLeft() < firstPauseMs;
      if (isOver || !isRepeated(error)) throw error;
      await sleep(Math.min(pauseMs, msLeft() / 2) * (0.5 + random() / 2), signal);
    }
  }
}

/** Makes a call, and gives it up when its time is over, even if the call ignores its signal. */
export async function withinTime<Result>(
  { abortAfter }: Pick<Timers, 'abortAfter'>,
  ms: number,
  call: (signal: AbortSignal) => Promise<Result>,
  given?: AbortSignal,
): Promise<Result> {
  const end = abortAfter(Math.ceil(ms));
  const signal = given === undefined ? end : AbortSignal.any([end, given]);
  const called = call(signal);
  return await new Promise((resolve, reject) => {
    const giveUp = () => reject(unavailable(signal.reason));
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp);
    called.then(resolve, reject);
  });
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'unavailable';
}

/**
 * The time of an invocation: the wall clock at its start, then a clock that never steps. If the wall clock is set back
 * while a function has lost the database, the function would otherwise push on for that long.
 */
export class SteadyClock {
  readonly #wall: () => number;
  readonly #ticks: () => number;
  #offsetMs = 0;

  /** @param wall epoch ms. @param ticks ms that never step. */
  constructor(wall: () => number = Date.now, ticks: () => number = () => performance.now()) {
    this.#wall = wall;
    this.#ticks = ticks;
    this.start();
  }

  /** Called at the start of each invocation: the environment may have been frozen. */
  start(): void {
    this.#offsetMs = this.#wall() - this.#ticks();
  }

  readonly now = (): Date => new Date(this.#offsetMs + this.#ticks());
}
