import { CarillonError, errorOf } from '../common/error.ts';
import {
  type Failure,
  isTransient,
  type MakeRequest,
  requestOnce,
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
    const end = elapsed() + timeoutMs;
    for (let failures = 1; ; failures++) {
      const failure: Failure | undefined = await requestOnce(url, init, end - elapsed()).catch(
        (one) => one,
      );
      if (!failure) return;
      const { response, cause } = failure;
      const { origin } = new URL(url);
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
