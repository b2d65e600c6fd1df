import { ServiceError } from '../../contract/errors.ts';

/** @param retryAfter seconds. */
export function requestInProgress(retryAfter: number): ServiceError {
  return new ServiceError(
    'request_in_progress',
    'The first request with this Idempotency-Key is still in progress; repeat the request later to get its response.',
    { retryAfter },
  );
}
