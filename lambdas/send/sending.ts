import type { NotificationStatus } from '../../contract/notification-status.ts';
import type { ParsedSendRequest, SendResult } from '../../contract/schemas/notification.ts';
import type { Slice } from '../../contract/slice.ts';
import type { CurrentProject } from '../deliver/current-project.ts';
import type { Deadlines } from '../deliver/deadlines.ts';
import type { DeliverDependencies } from '../deliver/deliver.ts';
import type { Parts } from '../store/counters.ts';
import type { NotificationStore } from '../store/notifications.ts';
import type { EarlierRequest, NewNotification, SendStore } from '../store/sends.ts';
import type { Audience } from './divide.ts';
import type { SliceStarter } from './invoker.ts';

export interface SendDependencies extends DeliverDependencies {
  readonly sends: SendStore;
  readonly notifications: Pick<NotificationStore, 'find'>;
  readonly starter: SliceStarter;
  readonly newId: (time: Date) => string;
  readonly random: () => number;
  /** Most notifications per month where the project's plan sets no cap. */
  readonly monthlyCap: number;
  /** Pushes per second over all functions that deliver a notification. */
  readonly pushesPerSecond: number;
}

export interface SendCall {
  readonly request: ParsedSendRequest;
  /** Whom the request is for: its user ids, or as many subscribers as the project has. */
  readonly audience: Audience;
  /** Notifications of this month so far, part by part of the counter. Not read for a send to users. */
  readonly sent?: Parts | undefined;
  /** The name of the member who sends, if it is one. */
  readonly sentBy?: string | undefined;
  /** A keyed hash of the header of that name, if given. */
  readonly idempotencyKey?: string | undefined;
  /** The earlier request with that key, if that was read. */
  readonly earlier?: EarlierRequest | undefined;
  /** Whether the caller asks not to wait for the delivery (RFC 7240 §4.1). */
  readonly respondAsync: boolean;
  /** Address of the service, for the events URL in the message. */
  readonly baseUrl: string;
  /** Unique to this request. */
  readonly requestId: string;
  /** When the request reached the gateway. All time limits count from here. */
  readonly startedAt: Date;
}

/** A call on its way through the steps of a send. */
export interface Sending {
  readonly call: SendCall;
  readonly project: CurrentProject;
  readonly notification: NewNotification;
  readonly slices: readonly Slice[];
  readonly deadlines: Deadlines;
  /** Aborts when the response leaves. */
  readonly signal: AbortSignal;
}

export type SendOutcome = (
  | { readonly kind: 'sent'; readonly result: SendResult }
  | { readonly kind: 'accepted'; readonly id: string; readonly status: NotificationStatus }
) & {
  /** Of the largest message, if that is above `limits.messageBytesEverywhere`. */
  readonly messageBytes?: number;
};
