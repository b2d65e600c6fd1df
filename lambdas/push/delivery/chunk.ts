import type { Recipient } from '../../../contract/audience.ts';
import type { FailureReason, Failures } from '../../../contract/failure-reasons.ts';
import type { VapidPair, VapidPairs } from '../../../contract/project.ts';
import type {
  DeliveryCounts,
  NotificationContent,
} from '../../../contract/schemas/notification.ts';
import type { VapidSigner } from '../crypto/vapid.ts';
import type { Transport } from '../transport/transport.ts';
import type { InFlightLimits } from './limiter.ts';

/** Become headers of each push (RFC 8030 §5.2 to §5.4). */
export type PushOptions = Pick<NotificationContent, 'ttl' | 'urgency' | 'topic'>;

/** At most 30,000 recipients, in memory as a whole, and what they receive. */
export interface Chunk {
  readonly recipients: readonly Recipient[];
  /**
   * Serialised messages that differ in their events URL only. Recipients take turns: recipient `i`
   * receives `messages[i % messages.length]`.
   */
  readonly messages: readonly Buffer[];
  /** How push services treat the messages. */
  readonly options: PushOptions;
  /** The project's key pairs. Each push is signed with the pair of its subscription. */
  readonly vapid: VapidPairs<VapidPair>;
  /** Epoch ms after which no push starts. */
  readonly lastPushAt: number;
  /** Epoch ms by which the delivery ends, finished or not: pushes in flight and removals. */
  readonly endAt: number;
  /** Most pushes that start per second, retries included. */
  readonly pushesPerSecond: number;
  /** Recipients of one group are removed one batch after another, groups in parallel. */
  readonly removalGroup: (recipient: Recipient) => number;
  /** Deletes subscriptions that their push service reported as gone. */
  readonly remove: (recipients: readonly Recipient[], signal: AbortSignal) => Promise<void>;
  /** Stores which pair a subscription was made with, after a push with another pair was refused. */
  readonly correctPair: (recipient: Recipient, pair: number, signal: AbortSignal) => Promise<void>;
  /** Is called at the end, for each push service to which pushes failed. */
  readonly onFailures?: ((pushService: string, failures: Failures) => void) | undefined;
}

/** `attempted + unreached` is the number of recipients when the delivery is done. */
export interface ChunkReport extends DeliveryCounts {
  /** Recipients that were not attempted because the time was over. 0 until `lastPushAt`. */
  readonly unreached: number;
  /** Failures by reason; they add up to `failed`. */
  readonly failures: Readonly<Partial<Record<FailureReason, number>>>;
}

export interface ChunkDelivery {
  readonly done: Promise<ChunkReport>;
  /** Counts of the recipients whose outcome is final. */
  soFar(): ChunkReport;
}

/** Starts to deliver a chunk. */
export type Deliver = (chunk: Chunk) => ChunkDelivery;

export interface DeliverySettings {
  readonly transport: Transport;
  readonly sign: VapidSigner;
  readonly clock: () => Date;
  /** Resolves after this many ms; rejects when the signal aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<unknown>;
  /** From 0 to below 1; spreads retries. */
  readonly random: () => number;
  /** Origins accepted besides those of the known push services. */
  readonly extraOrigins: readonly string[];
  readonly inFlight: InFlightLimits;
}
