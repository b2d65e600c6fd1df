import { sendTimeline, sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import type { Slice } from '../../contract/infrastructure/slice.ts';
import { ServiceError } from '../../contract/wire/errors.ts';

/** When the work of an invocation on a slice has to end: epoch ms. */
export interface Deadlines {
  /** No further recipients are read from then on. */
  readonly lastChunkAt: number;
  /** No push starts after this. */
  readonly lastPushAt: number;
  /** Pushes in flight and removals end by this. */
  readonly pushEndAt: number;
  /** The lease ends by this, and the invocation does nothing more. */
  readonly endsAt: number;
}

/** A function of its own delivers the slice. @param endsAt when Lambda ends the function, less the last writes. */
export function deadlinesOfFunction({ awaitedSince }: Slice, endsAt: number): Deadlines {
  if (awaitedSince !== undefined) return deadlinesOfRequest(awaitedSince);
  return {
    lastChunkAt: endsAt - sliceTimeline.lastChunkBeforeEndMs,
    lastPushAt: endsAt - sliceTimeline.lastPushBeforeEndMs,
    pushEndAt: endsAt - sliceTimeline.lastWritesMs,
    endsAt,
  };
}

/** A caller waits for the response. @param startedAt when the request reached the gateway: epoch ms. */
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
 * Milliseconds before the second try, doubled before each further one up to the longest; near the end, half of what is
 * left. Half of it is random.
 */
const firstPauseMs = 200;
const longestPauseMs = 2000;

/**
 * Makes a call to the database or to Lambda, and repeats it while it fails as `unavailable`. A call that can be
 * repeated never ends what it is part of: each one passes here.
 * @param deadline epoch ms: then the call is aborted, and no further one begins.
 * @throws what the last call has thrown.
 */
export async function whileTimeIsLeft<Result>(
  { clock, sleep, abortAfter, random }: Timers,
  deadline: number,
  call: (signal: AbortSignal) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const msLeft = () => Math.max(0, deadline - clock().getTime());
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const end = abortAfter(msLeft());
    try {
      return await call(signal === undefined ? end : AbortSignal.any([end, signal]));
    } catch (error) {
      const isOver = signal?.aborted || msLeft() < firstPauseMs;
      if (isOver || !isUnavailable(error)) throw error;
      await sleep(Math.min(pauseMs, msLeft() / 2) * (0.5 + random() / 2), signal);
    }
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'unavailable';
}

/**
 * The time of an invocation: that of the wall clock at its start, and then of a clock that nobody sets. Otherwise a
 * function that is cut off from the database when its clock is set back would push on, for as long as that.
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

  /** An invocation begins: the environment may have been frozen. */
  start(): void {
    this.#offsetMs = this.#wall() - this.#ticks();
  }

  readonly now = (): Date => new Date(this.#offsetMs + this.#ticks());
}
