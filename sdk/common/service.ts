import type { routes } from '../../contract/routes.ts';
import { retryAfterSecondsOf, retryPauseMs } from './retry-pause.ts';
import { type Timing, timing } from './timing.ts';

/** Address of a project at the service, and the key with which browsers subscribe to it. */
export interface ProjectAddress {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly projectId: string;
  /** Base64url without padding. */
  readonly applicationServerKey: string;
}

/** The output of `PushSubscription.toJSON()`. */
interface SubscriptionJson {
  readonly endpoint?: string;
  readonly keys?: Readonly<Record<string, string>>;
}

/** Written out here because the table in the contract would add all routes to the SDK. */
const projectPath: typeof routes.subscribe.path & typeof routes.unsubscribe.path =
  '/api/v1/projects/{projectId}';
const subscribeMethod: typeof routes.subscribe.method = 'POST';
const unsubscribeMethod: typeof routes.unsubscribe.method = 'DELETE';

export const requestTimeoutMs = 15_000;

/** Whether a request is retried, and for how long. */
export interface RetryPolicy extends Timing {
  readonly isRetried: boolean;
  /** Limit for all attempts and pauses together. */
  readonly timeoutMs: number;
  /** The error of a failed request. */
  readonly errorOf: (failure: Failure) => unknown;
}

/** In the background, where the caller stores the pause. */
export const singleAttempt: RetryPolicy = {
  ...timing,
  isRetried: false,
  timeoutMs: requestTimeoutMs,
  errorOf: (failure) => failure,
};

/** A request without a successful response. Pages turn it into an error for people. */
export interface Failure {
  /** Of the request. */
  readonly origin: string;
  /** Undefined: there is none that can be read. */
  readonly response?: Response;
  readonly status?: number;
  /** Seconds, if the response has `Retry-After`. */
  readonly retryAfter?: number | undefined;
  /** Why there is no response. */
  readonly cause?: unknown;
}

/** The first pause while a person waits. */
const interactivePauseMs = 3000;
/** The first pause in the background. */
export const backgroundPauseMs = 10_000;

/**
 * Registers a subscription, or updates it. Without `userId`, a stored user id is cleared.
 * @param subscription made with the key of the project's address.
 */
export function postSubscription(
  project: ProjectAddress,
  subscription: SubscriptionJson,
  userId: string | undefined,
  policy: RetryPolicy,
): Promise<void> {
  const body = JSON.stringify({
    ...subscription,
    userId,
    applicationServerKey: project.applicationServerKey,
  });
  const headers = { 'content-type': 'application/json' };
  return request(projectUrl(project), { method: subscribeMethod, headers, body }, policy);
}

/** Removes a subscription. Idempotent: the service also returns 200 for an unknown endpoint. */
export function deleteSubscription(
  project: ProjectAddress,
  endpoint: string,
  policy: RetryPolicy,
): Promise<void> {
  const url = `${projectUrl(project)}?endpoint=${encodeURIComponent(endpoint)}`;
  return request(url, { method: unsubscribeMethod }, policy);
}

function projectUrl({ baseUrl, projectId }: ProjectAddress): string {
  return baseUrl + projectPath.replace('{projectId}', projectId);
}

/**
 * Whether a retry may succeed: after a network error, 429 or 5xx. The gateway's own responses have no
 * CORS headers, so another origin sees them as network errors.
 */
export function isTransient({ status = 500 }: Failure): boolean {
  return status === 429 || status >= 500;
}

/** @throws the policy's error for the last failure. */
async function request(
  url: string,
  init: RequestInit,
  { isRetried, timeoutMs, errorOf, now, random, wait }: RetryPolicy,
): Promise<void> {
  const end = now() + timeoutMs;
  for (let failures = 1; ; failures++) {
    const failure = await attemptRequest(url, init, end - now());
    if (failure === undefined) return;
    const pauseMs = retryPauseMs(interactivePauseMs, failures, failure.retryAfter, random());
    if (!isRetried || !isTransient(failure) || now() + pauseMs >= end) {
      throw await errorOf(failure);
    }
    await wait(pauseMs);
  }
}

/**
 * @returns the failure, undefined after a success.
 * @throws {TypeError} if the URL is malformed.
 */
export async function attemptRequest(
  url: string,
  init: RequestInit,
  timeoutMs: number,
): Promise<Failure | undefined> {
  const { origin } = new URL(url);
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    if (response.ok) return undefined;
    return { origin, response, status: response.status, retryAfter: retryAfterSecondsOf(response) };
  } catch (cause) {
    return { origin, cause };
  }
}
