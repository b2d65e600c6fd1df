import { CarillonError, errorOf } from '../common/error.ts';
import {
  attemptRequest,
  isTransient,
  type MakeRequest,
  requestTimeoutMs,
} from '../common/service.ts';
import { retryPauseMs, timing } from '../common/timing.ts';

const firstPauseMs = 3000;

/**
 * Makes a request while a person waits. There is time for two retries after quick failures: the third pause is
 * longer.
 * @throws {CarillonError} the last failure.
 */
export const requestInteractively = interactiveRequest(requestTimeoutMs);

/** @param timeoutMs limit for all attempts and pauses together. */
export function interactiveRequest(timeoutMs: number, { now, random, wait } = timing): MakeRequest {
  return async (url, init) => {
    const end = now() + timeoutMs;
    for (let failures = 1; ; failures++) {
      const failure = await attemptRequest(url, init, end - now());
      if (failure === undefined) return;
      const { origin, response, retryAfter, cause } = failure;
      const pauseMs = retryPauseMs(firstPauseMs, failures, retryAfter, random());
      if (!isTransient(failure) || now() + pauseMs >= end) {
        if (response) throw await errorOf(response);
        const sentence = `No readable response from ${origin}; check "baseUrl" and the connection.`;
        throw new CarillonError('network_error', sentence, { cause });
      }
      await wait(pauseMs);
    }
  };
}
