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

/**
 * Codes for API Gateway's own responses, whose body is like `{"message":"Too Many Requests"}`. Its 404
 * has no code: the path does not exist, so `baseUrl` is wrong.
 */
const gatewayCodes: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  413: 'payload_too_large',
  429: 'rate_limited',
  500: 'internal_error',
  503: 'unavailable',
};

/** Reads an error response. Never throws, whatever the body. */
export async function errorOf(response: Response): Promise<CarillonError> {
  const { status } = response;
  const retryAfter = retryAfterSecondsOf(response);
  const body = Object(await response.json().catch(() => null));
  const { code = gatewayCodes[status], message = body.message, issues } = Object(body.error);
  const isOurs = code !== undefined && typeof message === 'string';
  return new CarillonError(
    isOurs ? code : 'unexpected_response',
    isOurs ? message : `The response (${status}) is not from Carillon; check "baseUrl".`,
    { status, retryAfter, issues },
  );
}
