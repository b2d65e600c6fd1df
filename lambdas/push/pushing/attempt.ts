import { NoResponseError, UnsendableError } from '../transport/errors.ts';
import { type Outcome, outcomeOf, type Transient } from './outcome.ts';
import type { Push } from './push.ts';
import type { PusherSettings } from './pusher.ts';

/** Milliseconds that a push may take, unless the pusher ends before. */
const pushTimeoutMs = 10_000;

const maxAttempts = 3;
/** Milliseconds before the second attempt, doubled before the third. Half of it is random. */
const backoffMs = 500;

/** Posts a prepared push once. */
export async function attempt(
  push: Push,
  { transport, clock, onFault }: Pick<PusherSettings, 'transport' | 'clock' | 'onFault'>,
  endAt: number,
): Promise<Outcome> {
  const { origin, recipient, headers, body } = push;
  if (headers === undefined || body === undefined) {
    return { kind: 'failed', reason: 'unsendable' };
  }
  push.attempts += 1;
  try {
    const response = await transport({
      origin: origin.name,
      path: recipient.path,
      headers,
      body,
      timeoutMs: Math.min(pushTimeoutMs, endAt - clock().getTime()),
    });
    return outcomeOf(response, clock());
  } catch (error) {
    if (error instanceof UnsendableError) return { kind: 'failed', reason: 'unsendable' };
    if (error instanceof NoResponseError) {
      return { kind: 'transient', reason: 'no_response', isTimeout: error.isTimeout };
    }
    // A fault of the code. The other pushes continue, and the log has the error.
    onFault?.(error);
    return { kind: 'failed', reason: 'internal_error' };
  }
}

/**
 * The pause before the next attempt of a push.
 * @param random from 0 to below 1.
 * @returns undefined if none is left, or if it would begin after the last push.
 */
export function retryDelayMs(
  { attempts }: Push,
  { retryAfterMs = 0 }: Transient,
  random: number,
  msLeft: number,
): number | undefined {
  if (attempts >= maxAttempts) return undefined;
  const jittered = backoffMs * 2 ** (attempts - 1) * (0.5 + random / 2);
  const delayMs = Math.max(retryAfterMs, jittered);
  return delayMs < msLeft ? delayMs : undefined;
}
