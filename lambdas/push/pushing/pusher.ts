import type { Recipient } from '../../../contract/audience.ts';
import type { Counts } from '../../../contract/counts.ts';
import type { Failures } from '../../../contract/failure-reasons.ts';
import type { VapidPair, VapidPairs } from '../../../contract/project.ts';
import type { NotificationContent } from '../../../contract/schemas/notification.ts';
import type { VapidSigner } from '../crypto/vapid.ts';
import type { Transport } from '../transport/transport.ts';
import type { InFlightLimits } from './limiter.ts';

/** Become headers of each push (RFC 8030 §5.2 to §5.4). */
export type PushOptions = Pick<NotificationContent, 'ttl' | 'urgency' | 'topic'>;

/** Epoch ms. They may be extended while a pusher runs. */
export interface PushTimes {
  /** No push starts after this. */
  readonly lastPushAt: number;
  /** Nor after this: the pushes that are left wait until it is extended. */
  readonly pausesAt: number;
  /** No retry starts after this, however far the others are extended. */
  readonly lastRetryAt: number;
  /** Everything ends by this, finished or not: pushes in flight and removals. */
  readonly endAt: number;
}

/** A serialised message, or what makes that of a recipient: it is made when it is encrypted. */
export type Message = Buffer | ((recipient: Recipient) => Buffer);

/** Common to all recipients of a pusher. */
export interface PusherOptions {
  /**
   * They differ in their events URL only. Recipients that are added together take turns: recipient `i`
   * receives `messages[i % messages.length]`.
   */
  readonly messages: readonly Message[];
  /** How push services treat the messages. */
  readonly options: PushOptions;
  readonly times: PushTimes;
  /** Whether a caller waits for the counts. Then no push that timed out is repeated at the very end. */
  readonly isAwaited: boolean;
  /** Most pushes that start per second, retries included. */
  readonly pushesPerSecond: number;
  /** Recipients of one group are removed one batch after another, groups in parallel. */
  readonly removalGroup: (recipient: Recipient) => number;
  /** Deletes subscriptions that their push service reported as gone. */
  readonly remove: (recipients: readonly Recipient[], signal: AbortSignal) => Promise<void>;
  /** Stores which pair a subscription was made with, after a push with another pair was refused. */
  readonly correctPair: (
    recipient: Recipient,
    number: number,
    signal: AbortSignal,
  ) => Promise<void>;
  /** Is called for each recipient that counts as delivered. */
  readonly onDelivered?: ((recipient: Recipient) => void) | undefined;
  /** Is called at the end, for each push service to which pushes failed. */
  readonly onFailures?: ((pushService: string, failures: Failures) => void) | undefined;
}

/** Pushes to recipients that are added one chunk after another. */
export interface Pusher {
  /** @param vapid the project's key pairs. Each push is signed with the pair of its subscription. */
  add(recipients: readonly Recipient[], vapid: VapidPairs<VapidPair>): void;
  /**
   * Resolves when more recipients could be pushed to: all others have been, or wait for push services
   * that are slow or fail.
   * @returns false if no push may start any more.
   */
  wantsMore(): Promise<boolean>;
  /**
   * Resolves when all recipients are settled: `attempted + unreached` is their number. None may be added
   * from now on.
   */
  end(): Promise<Counts>;
  /** Starts no further push. */
  stop(): void;
  /** Counts of the recipients whose outcome is final. `unreached` is 0 until `lastPushAt`. */
  soFar(): Counts;
}

export type StartPushing = (options: PusherOptions) => Pusher;

export interface PusherSettings {
  readonly transport: Transport;
  readonly sign: VapidSigner;
  readonly clock: () => Date;
  /** Resolves after this many ms; rejects when the signal aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<unknown>;
  /** From 0 to below 1; spreads retries. */
  readonly random: () => number;
  /** Accepted origins besides the known push services. */
  readonly extraOrigins: readonly string[];
  readonly inFlight: InFlightLimits;
  /** Is called for each push that failed with `internal_error`. */
  readonly onFault?: (error: unknown) => void;
}
