import type { Recipient } from '../../contract/infrastructure/slice.ts';
import { addCounts, noCounts } from '../../contract/wire/counts.ts';
import { otherHosts } from '../../contract/wire/push-services.ts';
import type { Untaken } from '../push/pushing/pusher.ts';
import { passedOver } from '../results/summary.ts';
import type { Range } from '../store/audience.ts';
import { type Behind, positionOf } from '../store/items.ts';
import type { Progress } from '../store/slices.ts';

/**
 * How far a slice is. Before recipients are pushed to, they are claimed: their number is stored, and where the next
 * ones begin. So nobody is pushed to twice when a function dies.
 *
 *     keys      ├──────────── claimed ────────────┤ not read yet …
 *                        ▲               ▲        ▲
 *                        cursor: fcm     apple    position
 *
 * Whom an invocation has claimed and not started when it leaves a slice that goes on is not claimed any more. The next
 * one reads again from there: beside the position, there is a cursor for each push service that is behind.
 */

/** The key of a recipient. Recipients are claimed in the order of these bytes; the first four are the position. */
export function keyOf({
  user,
  endpointHash,
}: Pick<Recipient, 'user' | 'endpointHash'>): Uint8Array {
  return user === undefined ? endpointHash : Buffer.concat([keyAt(user), endpointHash]);
}

/** Compares recipients by their keys. */
export function byKey(one: Recipient, other: Recipient): number {
  return Buffer.compare(keyOf(one), keyOf(other));
}

/** The first key of a position. */
function keyAt(position: number): Uint8Array {
  const key = Buffer.alloc(4);
  key.writeUInt32BE(position);
  return key;
}

/**
 * Where the next chunk begins and ends: wholly before the position, where only some classes are unclaimed, or wholly
 * after it.
 */
export function nextRange({ position, behind = {} }: Progress, to: number): Range {
  const cursors = Object.values(behind).map(({ cursor }) => positionOf(cursor));
  const from = Math.min(position, ...cursors);
  return { from, to: from < position ? position : to };
}

/** Whether all are read, and nobody is behind. */
export function isComplete({ position, behind }: Progress, to: number): boolean {
  return position >= to && behind === undefined;
}

/** Filters the recipients of a chunk: those who are not claimed. */
export function unclaimed(
  { position, behind = {} }: Progress,
  from: number,
  recipients: readonly Recipient[],
  classOf: (origin: string) => string,
): readonly Recipient[] {
  if (from >= position) return recipients;
  return recipients.filter((recipient) => {
    const left = behind[classOf(recipient.origin)];
    return left !== undefined && Buffer.compare(keyOf(recipient), left.cursor) >= 0;
  });
}

/**
 * The progress after a chunk is claimed.
 * @param unread recipients of the chunk that are left out.
 */
export function withChunk(
  progress: Progress,
  { from, to }: Range,
  recipients: readonly Recipient[],
  unread: number,
  classOf: (origin: string) => string,
): Progress {
  const { position, behind = {}, claimed, counts, unjudged = 0 } = progress;
  if (from >= position) {
    return {
      ...progress,
      position: to,
      claimed: claimed + recipients.length + unread,
      counts: addCounts(counts, { ...noCounts, unreached: unread }),
      unjudged: unjudged + unread || undefined,
    };
  }
  const moved: Behind = {};
  for (const [name, left] of Object.entries(behind)) {
    if (positionOf(left.cursor) >= to) moved[name] = left;
    else if (to < position) {
      const own = recipients.filter(({ origin }) => classOf(origin) === name);
      moved[name] = { cursor: keyAt(to), passed: Math.max(0, left.passed - own.length) };
    }
  }
  return { ...progress, behind: orNobody(moved), claimed: claimed + recipients.length };
}

/**
 * The progress after an invocation has left the slice.
 * @param untaken who is claimed, and comes after the last push that was sent, by class.
 * @param isFinal whether nobody continues: then these, and all who are behind, are unreached.
 */
export function withLeft(progress: Progress, untaken: Untaken, isFinal: boolean): Progress {
  const { behind = {}, claimed, counts, unjudged = 0 } = progress;
  const given = [...untaken.values()].reduce((sum, { length }) => sum + length, 0);
  if (isFinal) {
    const passed = passedOver(progress);
    const others = (untaken.get(otherHosts)?.length ?? 0) + (behind[otherHosts]?.passed ?? 0);
    return {
      ...progress,
      behind: undefined,
      claimed: claimed + passed,
      counts: addCounts(counts, { ...noCounts, unreached: given + passed }),
      unjudged: unjudged + others || undefined,
    };
  }
  const left: Behind = { ...behind };
  for (const [name, recipients] of untaken) {
    const passed = recipients.length + (behind[name]?.passed ?? 0);
    left[name] = { cursor: keyOf(recipients[0]!), passed };
  }
  return { ...progress, behind: orNobody(left), claimed: claimed - given };
}

/** An empty map is not stored. */
function orNobody(behind: Behind): Behind | undefined {
  return Object.keys(behind).length === 0 ? undefined : behind;
}
