import { pathOf, routes } from '../../contract/routes.ts';
import { CarillonError, errorOf } from './error.ts';
import { retryPauseMs } from './retry-pause.ts';

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

/** How often a request is retried, and for how long. */
export interface RetryPolicy {
  readonly retries: number;
  /** Limit for all attempts and pauses together. */
  readonly timeoutMs: number;
  readonly wait: (ms: number) => Promise<unknown>;
}

/** While a person waits. Two retries get past a broken connection or a short throttle. */
export const interactive: RetryPolicy = {
  retries: 2,
  timeoutMs: 15_000,
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** In the background, where the next page view is the retry. */
export const singleAttempt: RetryPolicy = { ...interactive, retries: 0 };

const firstPauseMs = 2000;

/** Registers a subscription, or updates it. Without `userId`, a stored user id is cleared. */
export function postSubscription(
  project: ProjectAddress,
  subscription: SubscriptionJson,
  userId: string | undefined,
  policy: RetryPolicy,
): Promise<void> {
  const body = JSON.stringify({ ...subscription, userId });
  const headers = { 'content-type': 'application/json' };
  return request(projectUrl(project), { method: routes.subscribe.method, headers, body }, policy);
}

/** Removes a subscription. Idempotent: the service also returns 200 for an unknown endpoint. */
export function deleteSubscription(
  project: ProjectAddress,
  endpoint: string,
  policy: RetryPolicy,
): Promise<void> {
  const url = `${projectUrl(project)}?endpoint=${encodeURIComponent(endpoint)}`;
  return request(url, { method: routes.unsubscribe.method }, policy);
}

function projectUrl({ baseUrl, projectId }: ProjectAddress): string {
  return baseUrl + pathOf(routes.subscribe, { projectId });
}

/**
 * Retries network errors, 429 and 503. Any other response is final. The gateway's own 429 and 503 have
 * no CORS headers, so a page on another origin sees them as network errors.
 * @throws {CarillonError}
 */
async function request(
  url: string,
  init: RequestInit,
  { retries, timeoutMs, wait }: RetryPolicy,
): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (let failures = 1; ; failures++) {
    const failure = await attempt(url, init, end - Date.now());
    if (failure === undefined) return;
    const { status, retryAfter } = failure;
    const isTransient = status === undefined || status === 429 || status === 503;
    const pauseMs = retryPauseMs(firstPauseMs, failures, retryAfter);
    if (!isTransient || failures > retries || Date.now() + pauseMs >= end) throw failure;
    await wait(pauseMs);
  }
}

async function attempt(
  url: string,
  init: RequestInit,
  timeoutMs: number,
): Promise<CarillonError | undefined> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    return response.ok ? undefined : await errorOf(response);
  } catch (cause) {
    const sentence = `No readable response from ${new URL(url).origin}; check the connection.`;
    return new CarillonError('network_error', sentence, { cause });
  }
}
