import type { Recipient } from '../../contract/audience.ts';
import { eventCounterUrl, pushMessage } from '../../contract/message.ts';
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

/** One message for each of the slice's event counters; with values, one for each recipient. */
export function messagesOf(slice: Slice): readonly Message[] {
  const { notificationId: id, content, values, eventsUrl, eventWindowSeconds, shownSample } = slice;
  return Array.from({ length: slice.counters }, (_, index) => {
    const url = eventCounterUrl(eventsUrl, slice.firstCounter + index);
    const serialised = (content: NotificationContent, reportsShown = true) =>
      Buffer.from(JSON.stringify(pushMessage(id, content, url, eventWindowSeconds, reportsShown)));
    if (values !== undefined) return ({ user }) => serialised(rendered(content, values[user!]!));
    const reporting = serialised(content);
    if (shownSample === undefined) return reporting;
    const others = serialised(content, false);
    return ({ endpointHash }) => (isInSample(endpointHash, id, shownSample) ? reporting : others);
  });
}

/**
 * Whether a browser is one of those that report `shown`. Its hash decides, by other bits than its position: so slices and
 * push services have their parts of the sample, and a repetition decides the same. Each notification has another sample.
 */
function isInSample(endpointHash: Uint8Array, notificationId: string, shownSample: number) {
  const { buffer, byteOffset, byteLength } = endpointHash;
  const lastBits = new DataView(buffer, byteOffset, byteLength).getUint32(byteLength - 4);
  // The last bits of a UUID of version 7 are random.
  return lastBits % shownSample === Number.parseInt(notificationId.slice(-8), 16) % shownSample;
}
