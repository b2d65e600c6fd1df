/**
 * The steps of a send, in ms after its request reached the gateway, which gives up after 30 s. Each step
 * ends in time, done or not, so that the response with the counts is never lost.
 *
 *     0          begin   pushes start …          22 s     25 s     27 s     29 s    30 s
 *     ├── limit, key ──┼──────── shares ───────────┤ pushes ┤ counts ┤        ┤       ┤
 *     request                             lastPushMs pushEndMs  endMs  timeoutMs  gateway
 *
 * Shares that functions deliver for a caller who waits have the same times. The times of an asynchronous
 * share are drawn in lambdas/deliver/share-times.ts.
 */
export const sendTimeline = {
  /** No push starts after this. */
  lastPushMs: 22_000,
  /** Pushes in flight and removals end by this. */
  pushEndMs: 25_000,
  /** Calls to the database end by this, and the response leaves. */
  endMs: 27_000,
  /** Lambda ends the function. */
  timeoutMs: 29_000,
} as const;

/** The steps of a share, in ms. */
export const shareTimeline = {
  /** Time for the writes after the last push. */
  lastWritesMs: 2000,
  /** Time between two writes of a share's counts. Each write extends the share's claim. */
  saveEveryMs: 2000,
  /**
   * Time from a write to the end of the share's claim: 20 writes may fail before pushes have to stop.
   * If a function dies, the next invocation waits so long.
   */
  claimMs: 60_000,
  /** Time before the end of the claim from which on no push starts. A push takes 10 s at most. */
  lastPushBeforeEndMs: 15_000,
  /**
   * Time from the start of a write that has claimed the share to the last push that it allows. A stopped
   * share refuses the next write, so no push starts later than `lastPushAfterStopMs` after the response:
   *
   *     write starts, succeeds     stop is stored, response
   *     ├─────┤                      ├────┤
   *     ├───────── pushes start ─────────────────┤
   *                pushAfterWriteMs              pause, until a write succeeds
   *
   * Two writes in a row may fail before pushes pause.
   */
  pushAfterWriteMs: 4500,
  /** Time from the response that a notification is stopped to its last push, at most: see above. */
  lastPushAfterStopMs: 5000,
  /** Difference between the clocks of two functions, at most. */
  clockDifferenceMs: 1000,
  /**
   * Time before the end of its function from which on an asynchronous share reads no more recipients:
   * recipients that it has read may be at a slow push service.
   */
  lastChunkBeforeEndMs: 3 * 60 * 1000,
  /** An asynchronous invocation that has not started by then is dropped. */
  startWithinMs: 60 * 60 * 1000,
  /** Lambda ends the function: its maximum, 15 minutes. */
  timeoutMs: 15 * 60 * 1000,
} as const;
