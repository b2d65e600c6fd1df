import type { Slice } from '../../contract/slice.ts';
import { sendTimeline, sliceTimeline } from '../../contract/timeline.ts';

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

/** A caller waits for the counts. @param startedAt when the request reached the gateway: epoch ms. */
export function deadlinesOfRequest(startedAt: number): Deadlines {
  const lastPushAt = startedAt + sendTimeline.lastPushMs;
  return {
    lastChunkAt: lastPushAt,
    lastPushAt,
    pushEndAt: startedAt + sendTimeline.pushEndMs,
    endsAt: startedAt + sendTimeline.endMs,
  };
}
