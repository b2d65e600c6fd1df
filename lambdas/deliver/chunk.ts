import type { Recipient } from '../../contract/audience.ts';
import { pushMessage, tallyUrl } from '../../contract/message.ts';
import { rendered } from '../../contract/placeholders.ts';
import type { NotificationContent } from '../../contract/schemas/notification.ts';
import type { Share } from '../../contract/share.ts';
import { shareSizes } from '../../contract/share-sizes.ts';
import type { Message } from '../push/pushing/pusher.ts';
import type { AudienceStore } from '../store/audience.ts';

export interface ReadChunk {
  readonly recipients: readonly Recipient[];
  /** Where the next chunk starts. */
  readonly to: number;
  /** At least this many recipients between were not read. */
  readonly unread: number;
}

/** Reads the chunk that starts at a position: as many positions as fit in memory. */
export async function readChunk(
  audiences: AudienceStore,
  share: Share,
  position: number,
  signal: AbortSignal,
): Promise<ReadChunk> {
  const { projectId, userIds, consistent, channels, seenSince } = share;
  const options = { limit: shareSizes.recipients, consistent, channels, seenSince, signal };
  for (let { step } = share; ; step = Math.ceil(step / 2)) {
    const to = Math.min(position + step, share.to);
    const { recipients, isCut } = userIds
      ? await audiences.users(projectId, userIds, { from: position, to }, options)
      : await audiences.everyone(projectId, { from: position, to }, options);
    if (!isCut || to - position === 1) return { recipients, to, unread: isCut ? 1 : 0 };
  }
}

/** One message for each of the share's tallies; with values, one for each recipient. */
export function messagesOf(share: Share): readonly Message[] {
  const { notificationId, content, values, eventsUrl, eventWindowSeconds } = share;
  return Array.from({ length: share.tallies }, (_, index) => {
    const url = tallyUrl(eventsUrl, share.firstTally + index);
    const serialised = (content: NotificationContent) =>
      Buffer.from(JSON.stringify(pushMessage(notificationId, content, url, eventWindowSeconds)));
    if (values === undefined) return serialised(content);
    return ({ user }) => serialised(rendered(content, values[user!]!));
  });
}
