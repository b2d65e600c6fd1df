/** How a notification's audience is divided among functions. */
export const sliceSizes = {
  /** Recipients that a function has in memory at once: about 600 bytes each. */
  recipients: 30_000,
  /**
   * Recipients that are planned for a chunk. Endpoint hashes are evenly distributed: a chunk differs
   * from this by a few hundred.
   */
  expectedRecipients: 28_000,
  /** User ids of a slice that is delivered asynchronously. */
  users: 250,
  /**
   * Bytes of these and their values as JSON. The rest of a slice has less than 20,000, so that an
   * invocation has at most 200,000: Lambda takes 256 KiB.
   */
  userBytes: 180_000,
  /** Pushes per second for which one more function is worth starting; one can push about 2,000. */
  pushesPerSecond: 1250,
  /** Seconds of pushing that are planned for a chunk. */
  chunkSeconds: 20,
  /**
   * Seconds of pushing after which an asynchronous delivery ends. Three attempts of a function have 36
   * minutes: 15 each, less `sliceTimeline.lastChunkBeforeEndMs`.
   */
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
} as const;
