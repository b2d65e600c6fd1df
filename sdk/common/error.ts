import type { ErrorBody, ErrorCode, Issue } from '../../contract/errors.ts';

/** What can go wrong: the service's codes, and those of what happens in the browser. */
export type CarillonErrorCode =
  | ErrorCode
  /** An option of `init` is missing or invalid; the message says what to write. */
  | 'invalid_options'
  /** This browser, or this way of opening the page, has no push. */
  | 'unsupported'
  /** The person said no, now or earlier; only the browser's settings change that. */
  | 'permission_denied'
  /** The person closed the question without an answer; it may be asked again. */
  | 'permission_dismissed'
  /** The service worker could not be loaded, or failed at its start. */
  | 'service_worker_failed'
  /** The browser's push service gave no subscription. */
  | 'push_service_failed'
  /** The browser's push service did not answer in time. */
  | 'timeout'
  /** No response that the page can read, after the retries. */
  | 'network_error'
  /** The response is not from the service: `baseUrl` may be wrong. */
  | 'unexpected_response';

interface CarillonErrorDetail {
  readonly status?: number;
  readonly retryAfter?: number | undefined;
  readonly issues?: readonly Issue[] | undefined;
  readonly cause?: unknown;
}

/** The one kind of error that the SDK throws. */
export class CarillonError extends Error {
  override readonly name = 'CarillonError';
  readonly code: CarillonErrorCode;
  /** HTTP status, where the service answered. */
  readonly status: number | undefined;
  /** Seconds until another try makes sense, where the service said so. */
  readonly retryAfter: number | undefined;
  /** Which fields are wrong, for `invalid_request`. */
  readonly issues: readonly Issue[] | undefined;

  constructor(code: CarillonErrorCode, message: string, detail: CarillonErrorDetail = {}) {
    super(message, { cause: detail.cause });
    this.code = code;
    this.status = detail.status;
    this.retryAfter = detail.retryAfter;
    this.issues = detail.issues;
  }
}

/**
 * Codes for the responses that API Gateway makes in front of the functions. Their body has another
 * form, `{"message":"Too Many Requests"}`. A 404 is missing here: the service has no such path.
 */
const gatewayCodes: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  413: 'payload_too_large',
  429: 'rate_limited',
  500: 'internal_error',
  503: 'unavailable',
};

interface GatewayBody {
  readonly message: string;
}

/** Reads a response that is not a success. Any body yields an error. */
export async function errorOf(response: Response): Promise<CarillonError> {
  const { status, headers } = response;
  const seconds = Number.parseInt(headers.get('retry-after') ?? '', 10);
  const retryAfter = Number.isNaN(seconds) ? undefined : seconds;
  const body: Partial<ErrorBody & GatewayBody> = Object(await response.json().catch(() => null));
  const { error = { code: gatewayCodes[status], message: body.message } } = body;
  const { code, message, issues }: Partial<ErrorBody['error']> = Object(error);
  if (code === undefined || typeof message !== 'string') {
    const sentence = `The response of status ${status} is not from the service.`;
    return new CarillonError('unexpected_response', sentence, { status, retryAfter });
  }
  return new CarillonError(code, message, { status, retryAfter, issues });
}
