/** A subscription to push to. */
export interface Recipient {
  /** SHA-256 of the endpoint, 32 bytes. */
  readonly endpointHash: Uint8Array;
  /** Scheme and host of the endpoint, and its port unless it is the default. */
  readonly origin: string;
  /** The rest of the endpoint, from its first slash on. */
  readonly path: string;
  /** The browser's public key: an uncompressed point on P-256, 65 bytes. */
  readonly p256dh: Uint8Array;
  /** The browser's authentication secret, 16 bytes. */
  readonly auth: Uint8Array;
}

/** The subscriptions that one notification is sent to. */
export interface Audience {
  /** Yields the subscriptions page by page. */
  pages(options?: PageOptions): AsyncIterable<readonly Recipient[]>;
  /** Whether pages come in the order of the endpoint hashes, so that they can be read from one on. */
  readonly ordered: boolean;
}

export interface PageOptions {
  /** Where an ordered audience starts: the endpoint hash of the first subscription wanted. */
  readonly from?: string | undefined;
  /** Stops reading. */
  readonly signal?: AbortSignal | undefined;
}
