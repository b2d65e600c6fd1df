/** A subscription to push to. */
export interface Recipient {
  /** What the subscription is stored under: a keyed hash of its endpoint. */
  readonly endpointHash: Uint8Array;
  /** Scheme, host and port of the endpoint. */
  readonly origin: string;
  /** The rest of the endpoint, from its first slash on, percent-encoded. */
  readonly path: string;
  /** The browser's public key: an uncompressed point on P-256, 65 bytes. */
  readonly p256dh: Uint8Array;
  /** The browser's authentication secret, 16 bytes. */
  readonly auth: Uint8Array;
  /** Number of the VAPID key pair that the subscription was made with. Absent: 0. */
  readonly vapidPairNumber?: number;
  /** Whether it was imported, and the browser has not chosen since: it may still have another service's worker. */
  readonly imported?: true;
  /** Index of its user among those that were asked for; absent in a broadcast. */
  readonly user?: number;
}
