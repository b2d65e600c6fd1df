import type { Recipient } from '../../contract/audience.ts';
import { limits } from '../../contract/limits.ts';
import { eventCounterUrl, pushMessage } from '../../contract/message.ts';
import { type OldWorkerName, withOldWorker } from '../../contract/old-worker.ts';
import { rendered } from '../../contract/placeholders.ts';
import type { NotificationContent } from '../../contract/schemas/notification.ts';
import type { Slice } from '../../contract/slice.ts';
import { sliceSizes } from '../../contract/slice-sizes.ts';
import type { Message } from '../push/pushing/push.ts';
import type { AudienceStore } from '../store/audience.ts';

/** Recipients that are read and claimed at once. */
export interface Chunk {
  readonly recipients: readonly Recipient[];
  /** Epoch ms at which the reading began. */
  readonly readAt: number;
  /** Where the next chunk starts, and whether that is the end of the slice. */
  readonly position: number;
  readonly isRead: boolean;
  /** At least this many recipients before that position were left out. */
  readonly unread: number;
}

/** Reads the chunk that starts at a position: as many positions as fit in memory. */
export async function readChunk(
  audiences: Pick<AudienceStore, 'everyone' | 'users'>,
  slice: Slice,
  from: number,
  clock: () => Date,
  signal: AbortSignal,
): Promise<Chunk> {
  const { project, userIds, consistent, conditions, sentAt, step } = slice;
  const readAt = clock().getTime();
  const range = { from, to: Math.min(from + step, slice.to) };
  const options = { limit: sliceSizes.recipients, consistent, conditions, sentAt, signal };
  const { recipients, to, unread } = userIds
    ? await audiences.users(project, userIds, range, options)
    : await audiences.everyone(project, range, options);
  return { recipients, readAt, position: to, isRead: to >= slice.to, unread };
}

/**
 * One message for each of the slice's event counters; with values, one for each recipient.
 * @param oldWorker that imported subscriptions may still have. A message that would be too large for it is as the others.
 */
export function messagesOf(slice: Slice, oldWorker: OldWorkerName | undefined): readonly Message[] {
  const { notificationId, content, values, eventsUrl, eventWindowSeconds } = slice;
  return Array.from({ length: slice.counters }, (_, index) => {
    const url = eventCounterUrl(eventsUrl, slice.firstCounter + index);
    const serialised = (content: NotificationContent, worker?: OldWorkerName): Buffer => {
      const message = pushMessage(notificationId, content, url, eventWindowSeconds);
      const bytes = Buffer.from(JSON.stringify(worker ? withOldWorker(worker, message) : message));
      return worker && bytes.length > limits.messageBytes ? serialised(content) : bytes;
    };
    if (values !== undefined) {
      return ({ user, imported }) =>
        serialised(rendered(content, values[user!]!), imported && oldWorker);
    }
    const own = serialised(content);
    if (oldWorker === undefined) return own;
    const withOld = serialised(content, oldWorker);
    return ({ imported }) => (imported ? withOld : own);
  });
}
