/** A subscription to push to. */
export interface Recipient {
  readonly endpoint: string;
  /** SHA-256 of the endpoint, hex. */
  readonly endpointHash: string;
  /** The browser's public key: an uncompressed point on P-256, base64url. */
  readonly p256dh: string;
  /** The browser's authentication secret: 16 bytes, base64url. */
  readonly auth: string;
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
