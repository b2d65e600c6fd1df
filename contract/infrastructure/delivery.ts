/**
 * The steps of a send for whose counts a caller waits, in ms after its request reached the gateway, which gives up after
 * 30 s. Each step ends in time, done or not, so that the response is never lost.
 *
 *     0         begin   pushes start …    22 s     25 s     26 s   27 s      29 s    30 s
 *     ├── limit, key ──┼────── slices ──────┤ pushes ┤ writes ┤ look ┤         ┤       ┤
 *     request                      lastPushMs pushEndMs slicesEndMs endMs  timeoutMs  gateway
 *
 * Slices that other functions deliver for it end `lookBeforeMs` earlier. Clocks differ by as much, so that the last look
 * sees what they have stored.
 */
export const sendTimeline = {
  /** No push starts after this. */
  lastPushMs: 22_000,
  /** Pushes in flight and removals end by this. */
  pushEndMs: 25_000,
  /** The last look at the slices that functions deliver. */
  slicesEndMs: 26_000,
  /** Calls to the database end by this, and the response leaves. */
  endMs: 27_000,
  /** Lambda ends the function. */
  timeoutMs: 29_000,
  lookBeforeMs: 1000,
} as const;

/** The steps of a slice, in ms. */
export const sliceTimeline = {
  /** Time for the writes after the last push. */
  lastWritesMs: 2000,
  /** Time between two writes of a slice: a claim, or only its counts. Each extends its lease. */
  saveEveryMs: 2000,
  /** Time from a write to the end of the lease. After a death, the next invocation waits that long. */
  leaseMs: 60_000,
  /**
   * Pushes start only while it is known that the project exists and the slice is neither stopped nor another
   * invocation's: so long after the start of a write, and of a read of the project, that have succeeded. What is
   * stopped refuses the next write, so no push starts later than `lastPushAfterStopMs` after the response:
   *
   *     write starts, succeeds     stop is stored, response
   *     ├─────┤                      ├────┤
   *     ├───────── pushes start ─────────────────┤
   *                knownForMs                    pause, until write and read succeed
   *
   * A write that fails is tried again before pushes pause. A push takes 10 s at most, so that all have ended long before
   * the lease.
   */
  knownForMs: 4500,
  /** Longest time from the response to a stop to the last push of the notification. It is above `knownForMs`. */
  lastPushAfterStopMs: 5000,
  /** Time for which a browser is known to be its user's. Before a later push, that is read again. */
  userKnownForMs: 1000,
  /** Difference between the clocks of two functions, at most. */
  clockDifferenceMs: 1000,
  /** A write or a small read that has no response by then is made again. */
  tryMs: 2000,
  /** No push of an asynchronous slice starts within this time before the end of its function. */
  lastPushBeforeEndMs: 15_000,
  /** No recipients are read within this time before the last push: there would be no time to push to them. */
  lastChunkBeforeMs: 20_000,
  /**
   * Lambda repeats a failed invocation twice. The third one that claims with at least `attemptMs` left ends the slice;
   * so does any that begins `lastAttemptAfterMs` after the send.
   */
  attempts: 3,
  attemptMs: 10 * 60 * 1000,
  lastAttemptAfterMs: 30 * 60 * 1000,
  /**
   * Subscriptions that are made later than this after the send are not among its recipients. Clocks differ by as much.
   */
  createdWithinMs: 1000,
  /** A slice that no function has begun to deliver by then is delivered by its request, if its caller waits. */
  startedWithinMs: 3000,
  /** A call to Lambda's API that has no response by then is made again. */
  lambdaCallMs: 2000,
  /** An asynchronous invocation that has not started by then is dropped. */
  startWithinMs: 60 * 60 * 1000,
  /** Lambda ends the function: its maximum, 15 minutes. */
  timeoutMs: 15 * 60 * 1000,
} as const;

/** How a notification's audience is divided among functions. */
export const sliceSizes = {
  /** Recipients of a slice, unless it is paced. */
  recipients: 30_000,
  /**
   * Recipients that are planned for a slice. Endpoint hashes are evenly distributed: a slice differs from this by a few
   * hundred.
   */
  expectedRecipients: 28_000,
  /**
   * Most recipients of a chunk, and how many are planned for one. If a function dies, it is not known who in its chunk
   * was pushed to.
   */
  chunk: 9000,
  expectedChunk: 8700,
  /**
   * The next chunk is claimed when a write is due and no more than these wait at any push service, or than are pushed to in a
   * second.
   */
  claimAhead: 1000,
  /** User ids of a slice that is delivered asynchronously. */
  users: 250,
  /**
   * Bytes of these and their values as JSON. The rest of a slice has less than 140,000, most of them translations, so
   * that an invocation has at most 260,000: Lambda takes 256 KiB.
   */
  userBytes: 120_000,
  /** Pushes per second for which one more function is worth starting; one can push about 2,000. */
  pushesPerSecond: 1250,
  /** Seconds of pushing that are planned for a chunk. */
  chunkSeconds: 5,
  /** Seconds of pushing after which an asynchronous delivery ends. Three attempts of a function have 43 minutes. */
  longestSeconds: 30 * 60,
  /** Recipients whose events one event counter counts: an item takes 1,000 writes per second. */
  recipientsPerCounter: 10_000,
  /** Event counters of a slice. */
  counters: 8,
  /** Slices of a notification: one transaction, of 100 items at most, cancels all of them. */
  slices: 96,
  /**
   * Subscribers whose `shown` events are spread over one second, so that a new account, which runs 10
   * functions at once, counts them: 9 beside send, each cold for 350 ms, take 9 / 0.35 = 25 events per second.
   * Warm, an event takes 20 ms: 450 per second, 9,000 within the longest window.
   */
  shownPerSecond: 25,
  /** Subscribers above which a sample of the browsers may report `shown`. Of fewer, it would be too small. */
  shownSampleAbove: 100_000,
  /** Most seconds by which a browser delays its `shown` event. */
  eventWindowSeconds: 20,
  /** Recipients without an outcome yet that a function has in memory at most: about 800 bytes each. */
  pending: 200_000,
  /** Subscriptions that one transaction removes: half of DynamoDB's maximum, for fewer conflicts. */
  removalBatch: 50,
  /**
   * Subscriptions that are marked at once in each of eight lanes, by one write each. The database client has 50 connections:
   * writes that wait a second for one fail, and the lease needs some too.
   */
  markBatch: 4,
} as const;
