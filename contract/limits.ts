/** Every number a caller can run into. Lengths of text are in UTF-16 code units. */
export const limits = {
  /** Characters of an endpoint and of each URL of a notification. */
  urlLength: 2048,
  userIdLength: 256,
  projectNameLength: 100,
  titleLength: 256,
  bodyLength: 2000,
  /** Entries of `userIds`, duplicates included. */
  userIds: 1000,
  /**
   * Bytes of the serialised message before encryption. RFC 8030 §7.2 lets a push service refuse a
   * body over 4,096 bytes; one aes128gcm record (RFC 8188 §2) around it takes 103: an 86-byte
   * header with the sender's public key, a delimiter and a 16-byte tag.
   */
  messageBytes: 4096 - 103,
  /**
   * Bytes of a request's body, checked before it is parsed: nested JSON takes 90 times its length
   * in memory. Each is what the route's fields need at their longest with every character escaped
   * (`\uXXXX`): subscribe 2,048 + 256 characters, track one word, send 2,256 characters, 4 URLs
   * and 1,000 user ids.
   */
  bodyBytes: { subscribe: 16_384, track: 1024, send: 2_097_152 },
  /** Characters of an `Idempotency-Key`, and the hours for which it stands for its request. */
  idempotencyKeyLength: 255,
  idempotencyHours: 24,
  /** Seconds a browser may reuse a preflight's answer. Chromium honours at most two hours. */
  preflightMaxAge: 7200,
  /** Seconds a push service keeps a message for a browser that is offline: four weeks. */
  messageTtl: 28 * 24 * 60 * 60,
  /** Days a notification's record stays open for beacons, well past `messageTtl`. */
  notificationRetentionDays: 90,
  /**
   * A send in ms from the moment its request reached the gateway, which gives up at 30 s. What is
   * not done by the end of a step is given up, so that the counts are never lost.
   */
  send: {
    /** No push starts after this. */
    lastPushMs: 22_000,
    /** Pushes under way and removals end by this. */
    deliveryEndMs: 25_000,
    /** Calls to the database end by this, and the response leaves. */
    endMs: 27_000,
    /** Lambda ends a function that is still running. */
    timeoutMs: 29_000,
  },
} as const;

/** The free tier: what a deployment starts with where neither it nor the project says otherwise. */
export const freeTier = {
  subscriberCap: 1000,
  monthlySendCap: 10_000,
  rateLimitPerMinute: 60,
} as const;

export const projectIdPattern = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** `carillon_sk_` and 256 random bits in base64url. */
export const secretKeyPrefix = 'carillon_sk_';
export const secretKeyPattern = /^carillon_sk_[A-Za-z0-9_-]{43}$/;
