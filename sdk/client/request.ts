import { CarillonError, errorOf } from '../common/error.ts';
import {
  attemptRequest,
  isTransient,
  type MakeRequest,
  requestTimeoutMs,
} from '../common/service.ts';
import { retryAfterSecondsOf, retryPauseMs, timing } from '../common/timing.ts';
import { policyRefusal } from './environment.ts';

const firstPauseMs = 3000;

/**
 * Makes a request while a person waits. There is time for two retries after quick failures: the third pause is
 * longer.
 * @throws {CarillonError} the last failure.
 */
export const requestInteractively = interactiveRequest(requestTimeoutMs);

/** @param timeoutMs limit for all attempts and pauses together. */
export function interactiveRequest(
  timeoutMs: number,
  { elapsed, random, wait } = timing,
): MakeRequest {
  return async (url, init) => {
    const { origin } = new URL(url);
    const end = elapsed() + timeoutMs;
    for (let failures = 1; ; failures++) {
      const failure = await attemptRequest(url, init, end - elapsed());
      if (failure === undefined) return;
      const { response, cause } = failure;
      const refusal = response ? undefined : await policyRefusal(origin);
      const retryAfter = retryAfterSecondsOf(response);
      const pauseMs = retryPauseMs(firstPauseMs, failures, retryAfter, random());
      if (refusal || !isTransient(failure) || elapsed() + pauseMs >= end) {
        if (response) throw await errorOf(response);
        const reason = refusal ?? '"baseUrl" and the connection';
        const sentence = `No readable response from ${origin}; check ${reason}.`;
        throw new CarillonError('network_error', sentence, { cause });
      }
      await wait(pauseMs);
    }
  };
}
