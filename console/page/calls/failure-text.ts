import { limits } from '../../../contract/wire/limits.ts';
import { CarillonError } from '../../../sdk/common/error.ts';

/** A failure for a person. */
export interface FailureText {
  readonly what: string;
  /** What to do about it, if the first sentence does not say it. */
  readonly advice?: string | undefined;
}

type Texts =
  | Partial<FailureText>
  | ((error: CarillonError, isLocal: boolean) => Partial<FailureText>);

/** Without `what`, the service's own sentence is shown: it says what is wrong. */
const texts: Readonly<Record<string, Texts>> = {
  network_error: (_, isLocal) => ({
    what: 'Cannot reach Carillon.',
    advice: isLocal ? 'Is npm start running?' : 'Check your connection.',
  }),
  unauthorized: {
    what: 'The service has no project with this id and this key.',
    advice:
      'Compare both with the message that contained the key. A member key may have expired or been revoked: ask for another one.',
  },
  not_permitted: { advice: 'Ask the owner of the project for a key that allows it.' },
  direct_request: { advice: 'Open the console at the public address of the service.' },
  unexpected_response: { what: 'The response is not from Carillon.' },
  rate_limited: ({ retryAfter }) => ({
    advice: `Try again ${retryAfter === undefined ? 'in a minute' : `in ${retryAfter} s`}.`,
  }),
  subscriber_cap_reached: {
    advice:
      'Ask the operator for a higher limit: carillon set <projectId> --subscriber-cap <number>.',
  },
  send_cap_reached: {
    advice:
      'Wait for the next month, or ask the operator for a higher limit: carillon set <projectId> --send-cap <number>.',
  },
  payload_too_large: { advice: 'Shorten the texts, the URLs or the data.' },
  notification_not_found: {
    advice: `It may be older than ${limits.notificationRetentionDays} days, or belong to another project.`,
  },
  request_in_progress: { advice: 'Its result appears under Notifications.' },
  internal_error: { advice: 'Try again. The log of the functions has the cause.' },
  unavailable: { advice: 'Try again in a moment.' },
};

/** Says what failed and what to do, in a person's words. @param isLocal whether `npm start` serves the page. */
export function failureText(error: unknown, isLocal = false): FailureText {
  if (!(error instanceof CarillonError)) return { what: (error as Error).message };
  const found = texts[error.code] ?? {};
  return { what: error.message, ...(typeof found === 'function' ? found(error, isLocal) : found) };
}
