/**
 * Every error that a caller can get: its status, and its sentence in the API reference. Which routes have a code is said
 * in `contract/wording/openapi/`; a test refuses a response that its route's description lacks.
 */
export const errorTable = {
  invalid_json: { status: 400, meaning: 'The body is empty, not JSON, or not UTF-8.' },
  invalid_request: { status: 400, meaning: 'A field is missing or invalid; `issues` names it.' },
  unauthorized: {
    status: 401,
    meaning: 'The key is missing, malformed, wrong, of another project, expired or revoked.',
  },
  direct_request: {
    status: 403,
    meaning: 'The request did not come through the proxy that the deployment requires.',
  },
  not_permitted: {
    status: 403,
    meaning: 'The role of the member key does not include this request.',
  },
  origin_not_allowed: {
    status: 403,
    meaning: 'The project takes this request from pages of other origins only.',
  },
  project_paused: {
    status: 403,
    meaning: 'The operator has paused the project: it sends nothing.',
  },
  subscriber_cap_reached: {
    status: 403,
    meaning: 'The project already has as many subscribers as its cap allows.',
  },
  user_id_signature_required: {
    status: 403,
    meaning: 'The project accepts a `userId` only with a `userIdSignature`.',
  },
  user_id_signature_invalid: {
    status: 403,
    meaning: 'The `userIdSignature` does not match the `userId` and the project’s identity key.',
  },
  project_not_found: { status: 404, meaning: 'There is no project with this id.' },
  notification_not_found: {
    status: 404,
    meaning: 'The project has no notification with this id.',
  },
  request_in_progress: {
    status: 409,
    meaning: 'The first request with this `Idempotency-Key` is still in progress.',
  },
  application_server_key_unknown: {
    status: 409,
    meaning: 'The project does not have the `applicationServerKey` of the subscription.',
  },
  erased: {
    status: 410,
    meaning: 'The owner has erased this browser: it comes back only when its visitor subscribes.',
  },
  notification_deleted: {
    status: 410,
    meaning: 'The notification of this `Idempotency-Key` was sent, and then deleted.',
  },
  payload_too_large: {
    status: 413,
    meaning: 'The body is too long, or the notification does not fit one encrypted push message.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body is not `application/json`, or its `charset` is not UTF-8.',
  },
  idempotency_key_reused: {
    status: 422,
    meaning: 'This `Idempotency-Key` was already used with a different body.',
  },
  rate_limited: {
    status: 429,
    meaning:
      'This address has used up its requests for this minute, or many for one endpoint came at once.',
  },
  send_cap_reached: {
    status: 429,
    meaning: 'The project has used up its notifications for this UTC month.',
  },
  outcome_unknown: {
    status: 500,
    meaning:
      'The notification may have been sent to some of its recipients; to how many is not known yet. Read it at the address ' +
      'in `Location`, and repeat the request only with the same `Idempotency-Key`.',
  },
  internal_error: { status: 500, meaning: 'An unexpected error; the log has its details.' },
  unavailable: { status: 503, meaning: 'The database is throttling or unavailable; try again.' },
} as const satisfies Record<string, { readonly status: number; readonly meaning: string }>;

export type ErrorCode = keyof typeof errorTable;

/** One invalid field of a request. */
export interface Issue {
  /** The field, such as `keys.p256dh`, `userIds[3]` or `recipients[3].values.name`. */
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
  /** Seconds until a retry can succeed: the header `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** Absolute address of what the request has made: the header of that name. */
  readonly location?: string;
  readonly cause?: unknown;
}

/** The only error that reaches a caller. Any other becomes `internal_error` without details. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly issues: readonly Issue[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly location: string | undefined;

  constructor(code: ErrorCode, message: string, detail: ServiceErrorDetail = {}) {
    super(message, { cause: detail.cause });
    this.code = code;
    this.issues = detail.issues;
    this.retryAfterSeconds = detail.retryAfterSeconds;
    this.location = detail.location;
  }
}
