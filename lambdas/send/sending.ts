import type { NotificationStatus } from '../../contract/notification-status.ts';
import type { SigningProject } from '../../contract/project.ts';
import { pathOf, routes } from '../../contract/routes.ts';
import type { ParsedSendRequest, SendResult } from '../../contract/schemas/notification.ts';
import type { ShareResult } from '../../contract/share.ts';
import type { Invocation } from '../deliver/share-progress.ts';
import { isReached } from '../results/reached-users.ts';
import { expectedSubscribers, totalOf } from '../results/results.ts';
import type { NewNotification } from '../store/send-writes.ts';
import type { SendStore } from '../store/sends.ts';
import type { Audience } from './divide.ts';
import type { RunDependencies } from './run-shares.ts';

export interface SendDependencies extends RunDependencies {
  readonly sends: SendStore;
  readonly newId: (time: Date) => string;
  /** Most notifications per month where the project's plan sets no cap. */
  readonly monthlyCap: number;
  /** Pushes per second over all functions that deliver a notification. */
  readonly pushesPerSecond: number;
}

export interface SendCall {
  readonly request: ParsedSendRequest;
  /** Whom the request is for: its user ids, or as many subscribers as the project has. */
  readonly audience: Audience;
  /** The header of that name, if given. */
  readonly idempotencyKey?: string | undefined;
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
export interface Sending extends SendCall {
  readonly project: SigningProject;
  /** When the function began with it. */
  readonly sentAt: Date;
  /** Ends when the response leaves. */
  readonly invocation: Invocation;
  /** Aborts then. */
  readonly signal: AbortSignal;
}

export type SendOutcome = (
  | { readonly kind: 'sent'; readonly result: SendResult }
  | { readonly kind: 'accepted'; readonly id: string; readonly status: NotificationStatus }
) & {
  /** Of the largest message, if that is above `limits.messageBytesEverywhere`. */
  readonly messageBytes?: number;
};

/** What is known of the shares of a notification when its request gets a response. */
interface SentShares {
  readonly results: readonly ShareResult[];
  /** Which of the request's users a push was delivered to; undefined if nothing is known. */
  readonly reached?: Uint8Array | undefined;
  readonly isStopped: boolean;
}

export function sentOutcome(
  { audience }: Sending,
  { id, division }: Pick<NewNotification, 'id' | 'division'>,
  { results, reached, isStopped }: SentShares,
): SendOutcome {
  const userIds = 'userIds' in audience ? audience.userIds : [];
  const usersNotReached = userIds.filter((_, index) => !isReached(reached, index));
  const { attempted, delivered, removed, failed, failures, unreached } = totalOf(
    results,
    expectedSubscribers(division),
  );
  return {
    kind: 'sent',
    result: {
      ...{ id, attempted, delivered, removed, failed },
      failures: failed > 0 ? failures : undefined,
      unreached: unreached || undefined,
      usersNotReached: usersNotReached.length > 0 ? usersNotReached : undefined,
      status: isStopped ? 'stopped' : undefined,
    },
  };
}

export function eventsUrl({ baseUrl, project }: Sending, notificationId: string): string {
  return baseUrl + pathOf(routes.track, { projectId: project.projectId, notificationId });
}
