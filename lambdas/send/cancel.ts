import { ServiceError } from '../../contract/errors.ts';
import { outcomeOf } from '../results/outcome.ts';
import type { StoredSlice } from '../store/slices.ts';
import type { SendDependencies, Sending, SendOutcome } from './sending.ts';
import { sentOutcome } from './sent-outcome.ts';

/** Ms between two tries. */
const againMs = 200;

/**
 * Undoes what may have begun of a send that has attempted nothing, so that a repeated request starts from the
 * beginning.
 * @returns the response if the send is kept, because it was stopped or other functions deliver it.
 * @throws the error otherwise.
 */
export async function cancel(
  deps: SendDependencies,
  sending: Sending,
  error: unknown,
): Promise<SendOutcome> {
  const outcome = await untilCancelled(deps, sending);
  if (outcome === 'cancelled') throw error;
  const { notification, slices } = sending;
  const { id, division } = notification;
  const numbers = slices.map(({ slice }) => slice);
  const found: readonly (StoredSlice | undefined)[] = await deps.slices
    .find(id, numbers, sending.signal)
    .catch(() => numbers.map(() => undefined));
  if (!division.respondedAsync) return sentOutcome(sending, found);
  const { status } = outcomeOf(notification, found, deps.clock());
  return { kind: 'accepted', id, status: outcome === 'stopped' ? 'stopped' : status };
}

/**
 * While the database is busy, repeats the cancellation until the end of the invocation: otherwise the unit stays taken,
 * and a repeated request finds a send that nobody delivers.
 * @returns `cancelled` also if nobody knows whether it was.
 */
async function untilCancelled(
  { sends, clock, sleep, observe }: SendDependencies,
  { call, notification, deadlines, slices, signal }: Sending,
): Promise<'cancelled' | 'stopped' | 'taken'> {
  for (;;) {
    try {
      return await sends.cancel(notification, call.requestId, signal);
    } catch (error) {
      const isTransient = error instanceof ServiceError && error.code === 'unavailable';
      if (!isTransient || clock().getTime() + againMs >= deadlines.endsAt) {
        observe.cancelFailed(slices[0]!, error);
        return 'cancelled';
      }
    }
    await sleep(againMs);
  }
}

/** The response to a send that was cancelled because no time was left. */
export function outOfTime(): ServiceError {
  return new ServiceError(
    'unavailable',
    'The database was too slow: nothing was sent. Try again in a second.',
    { retryAfterSeconds: 1 },
  );
}
