import { countOf, countText } from '../text/text.ts';
import { conditionsOf } from '../wire/content.ts';
import type { FailureReason } from '../wire/counts.ts';
import { limits } from '../wire/limits.ts';
import type { NotificationContent, NotificationResult } from '../wire/notification.ts';
import { namesIn } from '../wire/placeholders.ts';
import type { ConditionName } from '../wire/send-fields.ts';
import { fieldTexts } from './field-texts.ts';
import { pushServiceText } from './push-service-texts.ts';

/** The words in which people read what became of a notification, to whom it went, and why pushes failed. */

/** How good an outcome is. `info`: not decided. `neutral`: meant so, or nobody to reach. */
export type Tone = 'info' | 'good' | 'neutral' | 'warning' | 'bad';

/** Each word for an outcome, with how it looks. The icon tells it without the colour. */
const looks = {
  Sending: { tone: 'info', icon: 'ring' },
  Stopping: { tone: 'info', icon: 'ring' },
  Interrupted: { tone: 'bad', icon: 'brokenRing' },
  Stopped: { tone: 'neutral', icon: 'square' },
  'No recipients': { tone: 'neutral', icon: 'dash' },
  Failed: { tone: 'bad', icon: 'cross' },
  'Mostly failed': { tone: 'bad', icon: 'cross' },
  'Partly delivered': { tone: 'warning', icon: 'exclamation' },
  Sent: { tone: 'good', icon: 'tick' },
} as const satisfies Record<string, { readonly tone: Tone; readonly icon: string }>;

export type OutcomeWord = keyof typeof looks;

/** What became of a notification. */
export interface DeliveryVerdict {
  readonly word: OutcomeWord;
  readonly tone: Tone;
  /** `ring`: it turns. */
  readonly icon: (typeof looks)[OutcomeWord]['icon'];
  readonly sentence: string;
}

/** A notification, or the response of its send. */
export type Judged = Pick<
  NotificationResult,
  'audience' | 'attempted' | 'delivered' | 'failed' | 'unreached'
> & {
  /** Default: sent. */
  readonly status?: NotificationResult['status'] | undefined;
};

/** Parts of the audience from which on its loss changes the word. */
const mostPart = 1 / 2;
const noticeablePart = 1 / 20;

/**
 * Says what became of a notification.
 * @param subscribers of the project: about as many get a broadcast that is being sent.
 */
export function deliveryVerdict(result: Judged, subscribers?: number): DeliveryVerdict {
  const [word, sentence] = outcomeOf(result, subscribers);
  return { word, sentence, ...looks[word] };
}

/** Whether somebody should look at it: part of the audience was lost. */
export function needsAttention(result: Judged): boolean {
  const { tone } = deliveryVerdict(result);
  return tone === 'bad' || tone === 'warning';
}

/** Subscriptions that a notification was for, as far as they are known. */
export function audienceSize({ attempted, unreached = 0 }: Judged): number {
  return attempted + unreached;
}

function outcomeOf(result: Judged, subscribers?: number): readonly [OutcomeWord, string] {
  const { status = 'sent', audience, delivered } = result;
  const size = audienceSize(result);
  const lost = lostOf(result);
  const count = countText(delivered);
  const ofAll = `${count} of ${countText(size)}`;
  switch (status) {
    case 'sending': {
      const isToAll = audience === 'everyone' && subscribers !== undefined;
      const about = isToAll ? `, of about ${countText(Math.max(subscribers, size))}` : '';
      return ['Sending', `${count} delivered so far${about}.`];
    }
    case 'stopping':
      return ['Stopping', 'The last pushes end within seconds.'];
    case 'interrupted':
      return ['Interrupted', `${count} delivered. The rest did not get it, or nobody knows.`];
    case 'stopped': {
      const were = delivered === 1 ? 'was' : 'were';
      return ['Stopped', `${ofAll} ${were} delivered before the stop.`];
    }
  }
  if (size === 0) return ['No recipients', emptinessText(audience)];
  if (delivered === 0 && lost === 0) return ['No recipients', goneText(size)];
  if (delivered === 0) return ['Failed', `None of ${countText(size)} was delivered.`];
  const sentence = `${ofAll} delivered.`;
  if (lost >= mostPart * size) return ['Mostly failed', sentence];
  if (isLossNoticeable(result) || result.unreached) return ['Partly delivered', sentence];
  return ['Sent', sentence];
}

/** Subscriptions that should have got the notification and did not. */
export function lostOf({ failed, unreached = 0 }: Judged): number {
  return failed + unreached;
}

/** Whether so much was lost that it matters. */
export function isLossNoticeable(result: Judged): boolean {
  return lostOf(result) >= noticeablePart * audienceSize(result);
}

/** What push services called gone, and was removed: `3 removed (Firefox 2, Safari 1)`. */
export function removedText({
  removed,
  removals = {},
}: Pick<NotificationResult, 'removed' | 'removals'>): string {
  const names = Object.entries(removals).map(
    ([name, count]) => `${pushServiceText(name)} ${countText(count)}`,
  );
  const byService = names.length === 0 ? '' : ` (${names.join(', ')})`;
  return `${countText(removed)} removed${byService}`;
}

/** Whether so many were removed that the sender should know. */
export function isRemovalNoticeable(result: Judged & Pick<NotificationResult, 'removed'>): boolean {
  return result.removed > 0 && result.removed >= noticeablePart * audienceSize(result);
}

function goneText(count: number): string {
  return count === 1
    ? 'The only one had unsubscribed, and was removed.'
    : `All ${countText(count)} had unsubscribed, and were removed.`;
}

type Audience = NotificationResult['audience'];

function conditionsIn(audience: Exclude<Audience, 'everyone'>) {
  // In the order of the rows: the database keeps none.
  return Object.entries(conditionsOf(audience)).map(([name, value]) => {
    const [verb, text] = fieldTexts[name as ConditionName].selects;
    return { name, verb, text: text(value as never) };
  });
}

/** Why nobody was in an audience. */
function emptinessText(audience: Audience): string {
  if (audience === 'everyone') return 'Nobody is subscribed.';
  if (audience.users === 1) {
    const isAny = conditionsIn(audience).length === 0;
    return `This user is not subscribed${isAny ? '' : ', or has no such browser'}.`;
  }
  const whom = audience.users === undefined ? 'No subscriber' : 'None of these users';
  const predicates = conditionsIn(audience).map(({ verb, text }) => `${verb} ${text}`);
  return `${whom} ${predicates.join(' and ') || 'is subscribed'}.`;
}

/**
 * `everyone`, `channels news or sales, seen within 30 days`, `312 users, personal`.
 * @param named the users, where they are known: `ada and grace`.
 */
export function audienceText(
  { audience, ...content }: { readonly audience: Audience } & Partial<NotificationContent>,
  named?: string,
): string {
  if (audience === 'everyone') return audience;
  const conditions = conditionsIn(audience);
  const texts = conditions.map(({ text }) => text);
  if (audience.users !== undefined) {
    // Only a text for each user has placeholders.
    const isPersonal = namesIn(content as NotificationContent).length > 0;
    const users = named ?? countOf(audience.users, 'user');
    return [isPersonal ? `${users}, personal` : users, ...texts].join(', ');
  }
  return conditions[0]?.name === 'channels' ? texts.join(', ') : `subscribers ${texts.join(', ')}`;
}

/** What a person can do about a failure with a button. `copyNote`: tell the operator. */
export type FailureAction = 'sendAgain' | 'editCopy' | 'openSettings' | 'copyNote';

interface FailureText {
  readonly heading: string;
  /** What happened or what to do, in sentences. */
  readonly text: string;
  readonly action?: FailureAction;
}

const reachesAgain = 'Sending again also reaches those who have it.';

/** What the sender of a notification, or the operator of the service, should know of each failure. */
export const failureTexts: Readonly<Record<FailureReason, FailureText>> = {
  dropped: {
    heading: 'Windows dropped it',
    text: 'It drops messages of sites that send many, and of blocked ones. Send less often.',
  },
  key_mismatch: {
    heading: 'Subscribed with another key',
    text: 'Compare the key in your page with this project’s.',
    action: 'openSettings',
  },
  vapid_refused: {
    heading: 'The contact address was refused',
    text: 'Ask whoever runs the service to correct vapidSubject.',
    action: 'copyNote',
  },
  too_large: {
    heading: 'Too large for a push service',
    text: `${countText(limits.messageBytesEverywhere)} bytes fit everywhere.`,
    action: 'editCopy',
  },
  refused: {
    heading: 'Refused by a push service',
    text: 'The operator finds its response in the log, “failed pushes”.',
    action: 'copyNote',
  },
  throttled: {
    heading: 'Too fast for a push service',
    text: 'Send later; if it repeats, the operator lowers pushesPerSecond.',
    action: 'sendAgain',
  },
  unavailable: {
    heading: 'A push service was down',
    text: `It returned errors, also after retries. ${reachesAgain}`,
    action: 'sendAgain',
  },
  no_response: {
    heading: 'No connection to a push service',
    text: 'The operator checks name resolution, proxy and firewall.',
    action: 'copyNote',
  },
  unsendable: {
    heading: 'Push service not accepted',
    text: 'The operator compares extraPushOrigins with the subscriptions.',
    action: 'copyNote',
  },
  gone_unconfirmed: {
    heading: 'Gone, says a push service of more than half',
    text: 'They are kept. If it says so again a day later, they are removed.',
  },
  not_removed: { heading: 'Had unsubscribed', text: 'The next send removes them. Nothing to do.' },
  internal_error: {
    heading: 'A fault of Carillon',
    text: 'The operator finds “push fault” in the log and reports it.',
    action: 'copyNote',
  },
  interrupted: {
    heading: 'Without an outcome: the function ended first',
    text: `Some of them may have it. ${reachesAgain}`,
    action: 'sendAgain',
  },
};
