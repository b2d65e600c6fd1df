/** Every limit that a caller can reach. Lengths of text count Unicode code points. */
export const limits = {
  /** Characters of an endpoint, and of each URL in a notification. */
  urlLength: 2048,
  userIdLength: 256,
  /** Devices of a user in one response. */
  devices: 100,
  /**
   * Subscriptions of a user that a send reaches, those that were the user's first. Where user ids are not signed, anybody
   * can claim one for any number of endpoints.
   */
  userSubscriptions: 100,
  /** Distinct channels of a subscription, and of a send. */
  channels: 20,
  channelNameLength: 32,
  /** Channels, and languages, in a sample of subscribers: visitors can have any number of them. */
  sampled: 50,
  /** Most days of `seenWithinDays`. */
  seenWithinDays: 365,
  /** UTF-16 code units. */
  projectNameLength: 100,
  /** Members of a project, and characters of the name of one. */
  members: 50,
  memberNameLength: 64,
  titleLength: 256,
  bodyLength: 2000,
  topicLength: 64,
  tagLength: 64,
  /** Buttons of a notification: browsers show no more. */
  actions: 2,
  /** Characters of an action's name, and of its title. */
  actionLength: 32,
  actionTitleLength: 64,
  /** RFC 5646 §4.4.1 recommends it. */
  languageTagLength: 35,
  consentLength: 64,
  /** Languages of a send beside its own, and of a condition. */
  translations: 30,
  /** Bytes of all translations as JSON. More than this does not fit into as many messages. */
  translationsBytes: 120_000,
  /** Bytes of `data` as JSON. */
  dataBytes: 2048,
  appBadge: 99_999,
  /** Entries in `userIds`, duplicates included, and in `recipients`. */
  userIds: 1000,
  /** Users of a send that is a test. */
  testUsers: 5,
  /** Values of one recipient, and characters of each. */
  values: 50,
  valueLength: 500,
  /** Invalid fields that one response lists. */
  issues: 20,
  /**
   * Bytes of the serialised message before encryption. A push service may refuse a body over 4,096
   * bytes (RFC 8030 §7.2). Encryption adds 103 (aes128gcm, RFC 8188 §2): a header of 86 with the
   * sender's public key, a delimiter of 1 and a tag of 16.
   */
  messageBytes: 4096 - 103,
  /**
   * Up to this size a message also reaches Firefox for Android, whose push service passes it on through FCM, in
   * base64 and with at most 4,096 bytes of JSON.
   */
  messageBytesEverywhere: 2820,
  /**
   * Bytes of a request's body, checked before it is parsed: nested JSON takes 90 times its length
   * in memory. Each has room for the route's longest fields with every character escaped as `\uXXXX`:
   * subscribe 2,048 + 256 characters and 20 channels of 32, track one word, send 2,611 characters, 8 URLs, `data` and 1,000
   * user ids. Characters outside the BMP take 4 bytes in UTF-8, but 12 if they are escaped: of 1,000
   * user ids of such characters, all escaped, only about 680 fit. Nor do all maxima of `recipients` fit.
   */
  bodyBytes: { subscribe: 20_480, track: 1024, send: 2_097_152 },
  /** Characters of an `Idempotency-Key`, and hours for which a repeated one is recognised. */
  idempotencyKeyLength: 255,
  idempotencyHours: 24,
  /** Seconds for which a browser may reuse a preflight response. Chromium's maximum: two hours. */
  preflightMaxAge: 7200,
  /**
   * Seconds for which a push service keeps a message for an offline browser: four weeks, the most that
   * all push services accept, and the default.
   */
  messageTtl: 28 * 24 * 60 * 60,
  /** Notifications in one response of the list, by default and at most. */
  page: 20,
  largestPage: 100,
  /** Most days, and the default, for which a notification is stored and counts events: well past `messageTtl`. */
  notificationRetentionDays: 90,
  /** Days for which the hash of an erased endpoint is stored. */
  erasureDays: 400,
  /** Days for which it is known who did what. */
  auditDays: 400,
} as const;

/** The limits where neither the deployment nor the project sets others. */
export const defaultLimits = {
  subscriberCap: 100_000,
  monthlySendCap: 10_000,
  rateLimitPerMinute: 60,
} as const;
