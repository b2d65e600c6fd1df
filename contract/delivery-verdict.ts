import { hasConditions } from './conditions.ts';
import { countText } from './count-text.ts';
import { type FailureReason, failureReasons } from './failure-reasons.ts';
import { limits } from './limits.ts';
import { isInProgress } from './notification-status.ts';
import type { NotificationResult } from './schemas/notification.ts';

/** `bad`: most were not reached. `warning`: noticeably many were not. `neutral`: not decided, or meant so. */
export type Tone = 'good' | 'neutral' | 'warning' | 'bad';

/** What became of a notification, for people. */
export interface DeliveryVerdict {
  readonly tone: Tone;
  /** A few words for lists. Present only for bad news. */
  readonly label?: string;
  /** Sentences. */
  readonly text: string;
  /** What to do. Present only if pushes failed noticeably, and for an interruption. */
  readonly advice?: string;
}

/** A notification, or the response of its send. */
export type Judged = Pick<
  NotificationResult,
  'audience' | 'attempted' | 'delivered' | 'removed' | 'failed' | 'failures' | 'unreached'
> & {
  /** Default: sent. */
  readonly status?: NotificationResult['status'] | undefined;
};

/** Parts of the audience from which on failures are bad news. */
const badPart = 1 / 2;
const warningPart = 1 / 20;

/** Says what became of a notification, and how good that is. */
export function deliveryVerdict(result: Judged): DeliveryVerdict {
  const { status = 'sent' } = result;
  if (status === 'sending') {
    return { tone: 'neutral', text: 'Sending. The counts of the last seconds may be missing.' };
  }
  if (status === 'stopping') {
    const text =
      'Stopping: the last pushes start within a few seconds. The counts may still change.';
    return { tone: 'neutral', text };
  }
  if (status === 'stopped') {
    const verdict = endedVerdict(result);
    return {
      ...verdict,
      tone: verdict.tone === 'good' ? 'neutral' : verdict.tone,
      text: `Stopped. ${verdict.text}`,
    };
  }
  if (status === 'interrupted') {
    return {
      tone: 'bad',
      label: 'Interrupted',
      text: `Interrupted: a function crashed, and its part of the audience is not continued. ${deliveredText(result)} The others did not get the notification, or nobody knows whether they did.`,
      advice: failureAdvice.interrupted,
    };
  }
  return endedVerdict(result);
}

/** Whether the audience was empty. A send that is in progress may still find subscribers. */
export function hasNoSubscriber({ attempted, unreached, status = 'sent' }: Judged): boolean {
  return attempted === 0 && unreached === undefined && !isInProgress(status);
}

function endedVerdict(result: Judged): DeliveryVerdict {
  const { attempted, delivered, removed, failed, unreached = 0, audience, status } = result;
  if (hasNoSubscriber(result)) {
    return { tone: 'neutral', text: `No subscriber matched: ${emptinessOf(audience)}.` };
  }
  const nobody = status === 'stopped' ? 'Nobody was reached' : 'Sent, but nobody was reached';
  if (delivered === 0 && failed > 0) {
    return {
      tone: 'bad',
      label: 'Nobody reached',
      text: `${nobody}: ${failuresText(result)}.`,
      advice: adviceFor(result),
    };
  }
  if (delivered === 0 && removed > 0) {
    const text = `${nobody}: ${countText(removed)} unsubscribed before, and ${removed === 1 ? 'is' : 'are'} removed now.`;
    return { tone: 'warning', label: 'Nobody reached', text };
  }
  if (failed >= warningPart * attempted && failed > 0) {
    return {
      tone: failed >= badPart * attempted ? 'bad' : 'warning',
      label: `${countText(failed)} of ${countText(attempted)} failed`,
      text: `${deliveredText(result)} ${failuresText(result)}.`,
      advice: adviceFor(result),
    };
  }
  // Who stops a notification wants that.
  if (unreached > 0 && status !== 'stopped') {
    const label = `At least ${countText(unreached)} not attempted`;
    return { tone: 'warning', label, text: deliveredText(result) };
  }
  return { tone: 'good', text: deliveredText(result) };
}

function deliveredText({ attempted, delivered }: Judged): string {
  const noun = attempted === 1 ? 'subscriber' : 'subscribers';
  return `Delivered to ${countText(delivered)} of ${countText(attempted)} ${noun}.`;
}

function emptinessOf(audience: Judged['audience']): string {
  if (audience === 'everyone') return 'nobody is subscribed to this project';
  const { users: _, ...conditions } = audience;
  return hasConditions(conditions)
    ? 'no subscription meets the conditions'
    : 'none of the user ids has a subscription';
}

/** `10,001 failed, most because the push service refused the VAPID token or its subject`. */
function failuresText({ failed, failures }: Judged): string {
  const reason = mostFrequent(failures);
  if (reason === undefined) return `${countText(failed)} failed`;
  const count = failures![reason]!;
  const share = count === failed ? 'all' : count > failed / 2 ? 'most' : 'many';
  const cause = failureReasons[reason];
  const because = `because ${cause[0]!.toLowerCase()}${cause.slice(1, -1)}`;
  return `${countText(failed)} failed, ${failed === 1 ? '' : `${share} `}${because}`;
}

function adviceFor({ failures }: Judged): string {
  return failureAdvice[mostFrequent(failures) ?? 'internal_error'];
}

function mostFrequent(failures: Judged['failures'] = {}): FailureReason | undefined {
  const reasons = Object.keys(failures) as FailureReason[];
  return reasons.sort((one, other) => failures[other]! - failures[one]!)[0];
}

/** What the project's owner, or the operator of the service, can do about a failure. */
export const failureAdvice: Readonly<Record<FailureReason, string>> = {
  dropped: 'Send less often: Windows drops messages of sites that send many, and of blocked ones.',
  key_mismatch:
    'Check that the page passes the application server key of this project to the SDK, and that an imported list has the keys with which its browsers subscribed.',
  vapid_refused:
    'The operator checks the setting vapidSubject: an address at which push services can reach somebody.',
  too_large: `Shorten the texts, the URLs or the data: messages up to ${limits.messageBytesEverywhere.toLocaleString('en')} bytes fit everywhere.`,
  refused: 'The operator finds which push service it was in the log, in the lines “failed pushes”.',
  throttled: 'Send later. If it happens again, the operator lowers the setting pushesPerSecond.',
  unavailable:
    'Send again when the push service has recovered. It also reaches those who have the notification.',
  no_response:
    'The operator checks that the functions reach the push service: its name, the network, and a proxy or firewall between.',
  unsendable:
    'The operator compares the setting extraPushOrigins with the endpoints of the subscriptions.',
  not_removed: 'Nothing: the next send removes them.',
  internal_error:
    'The operator finds the error in the log, in the lines “push fault”, and reports it.',
  interrupted:
    'The operator finds the cause in the log of the functions. A second send also reaches those who have the notification.',
};
