import { ServiceError } from '../../contract/errors.ts';

export function requestInProgress(retryAfterSeconds: number): ServiceError {
  return new ServiceError(
    'request_in_progress',
    'The first request with this Idempotency-Key is still in progress; repeat the request later to get its response.',
    { retryAfterSeconds },
  );
}
