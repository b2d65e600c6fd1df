/** Every limit that a caller can reach. Lengths of text count Unicode code points. */
export const limits = {
  /** Characters of an endpoint, and of each URL in a notification. */
  urlLength: 2048,
  userIdLength: 256,
  /** UTF-16 code units. */
  projectNameLength: 100,
  titleLength: 256,
  bodyLength: 2000,
  topicLength: 64,
  tagLength: 64,
  /** Buttons of a notification: browsers show no more. */
  actions: 2,
  /** Characters of an action's name, and of its title. */
  actionLength: 32,
  actionTitleLength: 64,
  /** As RFC 5646 §4.4.1 recommends. */
  languageTagLength: 35,
  /** Bytes of `data` as JSON. */
  dataBytes: 2048,
  appBadge: 99_999,
  /** Entries in `userIds`, duplicates included. */
  userIds: 1000,
  /**
   * Bytes of the serialised message before encryption. A push service may refuse a body over 4,096
   * bytes (RFC 8030 §7.2). Encryption adds 103 (aes128gcm, RFC 8188 §2): a header of 86 with the
   * sender's public key, a delimiter of 1 and a tag of 16.
   */
  messageBytes: 4096 - 103,
  /**
   * Bytes of a request's body, checked before it is parsed: nested JSON takes 90 times its length
   * in memory. Each has room for the route's longest fields with every character escaped as `\uXXXX`:
   * subscribe 2,048 + 256 characters, track one word, send 2,611 characters, 8 URLs, `data` and 1,000
   * user ids. Characters outside the BMP take 4 bytes in UTF-8, but 12 if they are escaped: of 1,000
   * user ids of such characters, all escaped, only about 680 fit.
   */
  bodyBytes: { subscribe: 16_384, track: 1024, send: 2_097_152 },
  /** Characters of an `Idempotency-Key`, and hours for which a repeated one is recognised. */
  idempotencyKeyLength: 255,
  idempotencyHours: 24,
  /** Seconds for which a browser may reuse a preflight response. Chromium's maximum: two hours. */
  preflightMaxAge: 7200,
  /** Subscriptions that one transaction removes: half of DynamoDB's maximum, for fewer conflicts. */
  removalBatch: 50,
  /**
   * Seconds for which a push service keeps a message for an offline browser: four weeks, the most that
   * all push services accept, and the default.
   */
  messageTtl: 28 * 24 * 60 * 60,
  /** Notifications in one response of the list, by default and at most. */
  page: 20,
  largestPage: 100,
  /**
   * Tallies that one page of the list reads, so that 100 notifications to millions do not use up what
   * DynamoDB reads in a second. A page of them ends earlier. Above the tallies of one notification: 768.
   */
  pageTallies: 2000,
  /** Days for which a notification is stored and counts events: well past `messageTtl`. */
  notificationRetentionDays: 90,
  /**
   * The steps of a send, in ms after its request reached the gateway, which gives up after 30 s.
   * Each step ends in time, done or not, so that the response with the counts is never lost.
   */
  send: {
    /** No push starts after this. */
    lastPushMs: 22_000,
    /** Pushes in flight and removals end by this. */
    deliveryEndMs: 25_000,
    /** Calls to the database end by this, and the response leaves. */
    endMs: 27_000,
    /** Lambda ends the function. */
    timeoutMs: 29_000,
  },
  /** How a notification's audience is divided among functions. */
  share: {
    /** Recipients that a function has in memory at once: about 600 bytes each. */
    recipients: 30_000,
    /**
     * Recipients that are planned for a chunk. Endpoint hashes are evenly distributed: a chunk differs
     * from this by a few hundred.
     */
    expectedRecipients: 28_000,
    /** User ids of a share that is delivered asynchronously. */
    users: 250,
    /** Pushes per second for which one more function is worth starting; one can push about 2,000. */
    pushesPerSecond: 1250,
    /** Seconds of pushing that are planned for a chunk. */
    chunkSeconds: 20,
    /**
     * Seconds of pushing after which an asynchronous delivery ends. Three attempts of a function have 36
     * minutes: 15 each, less `lastChunkBeforeEndMs`.
     */
    longestSeconds: 30 * 60,
    /** Recipients whose events one tally counts: an item takes 1,000 writes per second. */
    recipientsPerTally: 10_000,
    /** Tallies of a share. */
    tallies: 8,
    /** Shares of a notification: one transaction, of 100 items at most, cancels all of them. */
    shares: 96,
    /**
     * Subscribers whose `shown` events are spread over one second, so that a new account, which runs 10
     * functions at once, counts them: 9 beside send, each cold for 350 ms, take 9 / 0.35 = 25 events per second.
     * Warm, an event takes 20 ms: 450 per second, 9,000 within the longest window.
     */
    shownPerSecond: 25,
    /** Most seconds by which a browser delays its `shown` event. */
    eventWindow: 20,
    /** Recipients without an outcome yet that a function has in memory at most: about 800 bytes each. */
    pending: 200_000,
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
    /** Difference between the clocks of two functions, at most. */
    clockDifferenceMs: 1000,
    /**
     * Time before the end of its function from which on an asynchronous share reads no more recipients:
     * those it has may be at a slow push service.
     */
    lastChunkBeforeEndMs: 3 * 60 * 1000,
    /** An asynchronous invocation that has not started by then is dropped. */
    startWithinMs: 60 * 60 * 1000,
    /** Lambda ends the function: its maximum, 15 minutes. */
    timeoutMs: 15 * 60 * 1000,
  },
} as const;

/** The limits where neither the deployment nor the project sets others. */
export const defaultLimits = {
  subscriberCap: 1000,
  monthlySendCap: 10_000,
  rateLimitPerMinute: 60,
} as const;

/** `limits.idempotencyKeyLength` printable ASCII characters without spaces. */
export const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

export const projectIdPattern = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** `carillon_sk_` and 256 random bits in base64url. */
export const secretKeyPrefix = 'carillon_sk_';
export const secretKeyPattern = /^carillon_sk_[A-Za-z0-9_-]{43}$/;
