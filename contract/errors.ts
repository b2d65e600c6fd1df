/**
 * Every error a caller can meet: its status and the sentence the reference prints for it.
 * A new code is added here and nowhere else; the types then ask for it where it matters.
 */
export const errorTable = {
  invalid_json: { status: 400, meaning: 'The body is not JSON.' },
  invalid_request: { status: 400, meaning: 'A field is missing or wrong; `issues` says which.' },
  unauthorized: {
    status: 401,
    meaning: 'The secret key is missing, malformed, wrong, or of another project.',
  },
  subscriber_cap_reached: {
    status: 403,
    meaning: 'The project has as many subscribers as its plan allows.',
  },
  project_not_found: { status: 404, meaning: 'There is no project with this id.' },
  notification_not_found: {
    status: 404,
    meaning: 'The project has no notification with this id.',
  },
  request_in_progress: {
    status: 409,
    meaning: 'The first request with this `Idempotency-Key` is still under way.',
  },
  send_interrupted: {
    status: 409,
    meaning:
      'The first request with this `Idempotency-Key` broke off. Some subscribers may have been notified.',
  },
  payload_too_large: {
    status: 413,
    meaning: 'The body is too long, or the notification does not fit one encrypted push message.',
  },
  unsupported_media_type: { status: 415, meaning: 'The body is not `application/json`.' },
  idempotency_key_reused: {
    status: 422,
    meaning: 'This `Idempotency-Key` was already used with a different body.',
  },
  rate_limited: {
    status: 429,
    meaning: 'This address has used up its requests for this minute.',
  },
  send_cap_reached: {
    status: 429,
    meaning: 'The project has used up its notifications for this UTC month.',
  },
  internal_error: { status: 500, meaning: 'Something unforeseen; the log has it.' },
  unavailable: { status: 503, meaning: 'The database is throttling or away; try again.' },
} as const satisfies Record<string, { readonly status: number; readonly meaning: string }>;

export type ErrorCode = keyof typeof errorTable;

/** What is wrong with one field of a request. */
export interface Issue {
  /** Where, in dots: `keys.p256dh`, `userIds.3`. */
  readonly path: string;
  readonly message: string;
}

/** The body of every error response. */
export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    /** Present for `invalid_request` only. */
    readonly issues?: readonly Issue[];
  };
}

interface ServiceErrorDetail {
  readonly issues?: readonly Issue[];
  /** Seconds until another try makes sense; becomes `Retry-After`. */
  readonly retryAfter?: number;
  readonly cause?: unknown;
}

/** The one error a caller may see. Anything else that is thrown becomes a bare `internal_error`. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly issues: readonly Issue[] | undefined;
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message: string, detail: ServiceErrorDetail = {}) {
    super(message, { cause: detail.cause });
    this.code = code;
    this.issues = detail.issues;
    this.retryAfter = detail.retryAfter;
  }
}
