import type { ErrorCode, Issue } from '../../contract/wire/errors.ts';
import { retryAfterSecondsOf } from './timing.ts';

/** The service's codes, and the codes of errors in the browser. */
export type CarillonErrorCode =
  | ErrorCode
  /** An option is missing, invalid or unknown; the message gives a correct form. */
  | 'invalid_options'
  /** This browser has no push, or not on this page: see `reason` of `state()`. */
  | 'unsupported'
  /** The person blocked notifications; only the browser's settings can change that. */
  | 'permission_denied'
  /** The person closed the prompt without a decision; it can be shown again. */
  | 'permission_dismissed'
  /** The service worker could not be loaded, or failed to start. */
  | 'service_worker_failed'
  /** The browser could not subscribe at its push service. */
  | 'push_service_failed'
  /** The browser, or its push service, did not respond in time. */
  | 'timeout'
  /** The browser refused or failed in another way; see `cause`. */
  | 'browser_failed'
  /** No response, or none that the page can read, after retries. */
  | 'network_error'
  /** The response is not from Carillon: `baseUrl` may be wrong. */
  | 'unexpected_response';

interface CarillonErrorDetail {
  readonly status?: number;
  readonly retryAfter?: number | undefined;
  readonly issues?: readonly Issue[] | undefined;
  readonly cause?: unknown;
}

/**
 * The only error that the SDK, and the client for servers, throw. Its members are declared only: field
 * definitions would add to the bundle what the constructor does anyway.
 */
export class CarillonError extends Error {
  override readonly name = 'CarillonError';
  declare readonly code: CarillonErrorCode;
  /** HTTP status, if there was a response. */
  declare readonly status: number | undefined;
  /** Seconds until a retry can succeed, if the response has `Retry-After`. */
  declare readonly retryAfter: number | undefined;
  /** The invalid fields. Only for `invalid_request`. */
  declare readonly issues: readonly Issue[] | undefined;

  constructor(code: CarillonErrorCode, message: string, detail?: CarillonErrorDetail) {
    super(message, detail);
    Object.assign(this, detail, { code });
  }
}

/** Reads an error response of the service. Never throws, whatever the body. */
export async function errorOf(response: Response): Promise<CarillonError> {
  const { status } = response;
  const retryAfter = retryAfterSecondsOf(response);
  const { error } = Object(await response.json().catch(() => {}));
  const { code, message, issues } = Object(error);
  return new CarillonError(
    code ?? 'unexpected_response',
    code ? message : `Unexpected response ${status}; check "baseUrl".`,
    { status, retryAfter, issues },
  );
}
