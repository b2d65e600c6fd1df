import { CarillonError, errorOf } from '../common/error.ts';
import { type Failure, isTransient, requestOnce, requestTimeoutMs } from '../common/service.ts';
import { pauseAfterMs, timing } from '../common/timing.ts';
import { policyRefusal } from './environment.ts';

const firstPauseMs = 3000;

/**
 * Makes a request while a person waits. There is time for two retries after quick failures: the third pause is
 * longer.
 * @param timeoutMs limit for all attempts and pauses together.
 * @throws {CarillonError} the last failure.
 */
export async function requestInteractively(
  url: string,
  init: RequestInit,
  timeoutMs = requestTimeoutMs,
  { elapsed, wait } = timing,
): Promise<void> {
  const end = elapsed() + timeoutMs;
  for (let failures = 1; ; failures++) {
    const failure: Failure | undefined = await requestOnce(url, init, end - elapsed()).catch(
      (one) => one,
    );
    if (!failure) return;
    const { response } = failure;
    const { origin } = new URL(url);
    const refusal = response ? undefined : await policyRefusal(origin);
    const pauseMs = pauseAfterMs(failure, firstPauseMs, failures);
    if (refusal || !isTransient(failure) || elapsed() + pauseMs >= end) {
      if (response) throw await errorOf(response);
      const sentence = `No response from ${origin}; check ${refusal ?? '"baseUrl"'}.`;
      throw new CarillonError('network_error', sentence, failure);
    }
    await wait(pauseMs);
  }
}
