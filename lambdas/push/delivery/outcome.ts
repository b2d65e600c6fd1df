import type { PushResponse } from '../transport/read-response.ts';

/** What a push service's answer means for the push and its subscription. */
export type Outcome =
  | { readonly kind: 'delivered' }
  /** The subscription is no more and is to be deleted. */
  | { readonly kind: 'gone' }
  /** May pass with another try, no sooner than `retryAfter` ms from now where the service says so. */
  | { readonly kind: 'passing'; readonly reason: FailureReason; readonly retryAfter?: number }
  | { readonly kind: 'failed'; readonly reason: FailureReason };

export type FailureReason =
  /** The service took the message and says that it dropped it (WNS). */
  | 'dropped'
  /** The subscription was made under another application server key. */
  | 'key_mismatch'
  /** The token or its subject is refused: every push of the project will fail so. */
  | 'vapid_refused'
  | 'too_large'
  | 'refused'
  /** 406 (WNS) or 429, after retries. */
  | 'throttled'
  /** A server error, after retries. */
  | 'unavailable'
  /** No connection, a broken one, or a time-out, after retries. */
  | 'no_answer';

/**
 * Reads a push service's answer. RFC 8030 §5 and §7.3 name 201 and 404; the rest is what the
 * services in use document of themselves or are seen to answer.
 */
export function outcomeOf({ status, headers, body }: PushResponse, now: Date): Outcome {
  if (status >= 200 && status < 300) {
    // Windows' service accepts what it then does not pass on, and says so in a header alone.
    const dropped = ['dropped', 'channelthrottled'].includes(headers['x-wns-status'] ?? '');
    return dropped ? { kind: 'failed', reason: 'dropped' } : { kind: 'delivered' };
  }
  switch (status) {
    case 404:
    case 410:
      return { kind: 'gone' };
    case 406:
    case 429:
      return passing('throttled', headers['retry-after'], now);
    case 500:
    case 502:
    case 503:
    case 504:
      return passing('unavailable', headers['retry-after'], now);
    case 413:
      return { kind: 'failed', reason: 'too_large' };
    case 400:
    case 401:
    case 403:
      if (ofAnotherKey(status, body)) return { kind: 'failed', reason: 'key_mismatch' };
      return { kind: 'failed', reason: status === 400 ? 'refused' : 'vapid_refused' };
    default:
      return { kind: 'failed', reason: 'refused' };
  }
}

// Apple, Mozilla and Google each have their own way to say it.
function ofAnotherKey(status: 400 | 401 | 403, body: string): boolean {
  if (status === 400) return body.includes('VapidPkHashMismatch');
  // Mozilla's errno is 109 for every fault of a token: only the text tells them apart.
  if (status === 401) return /public key mismatch/i.test(body);
  return /do(es)? not correspond/.test(body);
}

/** `Retry-After` (RFC 9110 §10.2.3) is seconds or a date. */
function passing(reason: FailureReason, after: string | undefined, now: Date): Outcome {
  if (after === undefined) return { kind: 'passing', reason };
  const wait = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now.getTime();
  if (Number.isNaN(wait)) return { kind: 'passing', reason };
  return { kind: 'passing', reason, retryAfter: Math.max(0, wait) };
}
