import { pathOf, routes } from '../../contract/routes.ts';
import { CarillonError, errorOf } from './error.ts';
import { retryPauseMs } from './retry-pause.ts';

/** Where a project is found, and the key that browsers subscribe to it with. */
export interface ProjectAddress {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly projectId: string;
  /** Base64url without padding. */
  readonly applicationServerKey: string;
}

/** What `PushSubscription.toJSON()` yields. */
interface SubscriptionJson {
  readonly endpoint?: string;
  readonly keys?: Readonly<Record<string, string>>;
}

/** How often, and for how long, a request is tried. */
export interface Patience {
  readonly retries: number;
  /** For all attempts and pauses together. */
  readonly timeoutMs: number;
  readonly wait: (ms: number) => Promise<unknown>;
}

/** While a person waits: two retries bridge a lost connection and a short throttle. */
export const inClick: Patience = {
  retries: 2,
  timeoutMs: 15_000,
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** While nobody waits: one attempt. */
export const onceOnly: Patience = { ...inClick, retries: 0 };

const firstPauseMs = 2000;

/** Registers a subscription, or updates it: without `userId`, it belongs to no user. */
export function postSubscription(
  project: ProjectAddress,
  subscription: SubscriptionJson,
  userId: string | undefined,
  patience: Patience,
): Promise<void> {
  const body = JSON.stringify({ ...subscription, userId });
  const headers = { 'content-type': 'application/json' };
  return request(addressOf(project), { method: routes.subscribe.method, headers, body }, patience);
}

/** Removes a subscription. One that the service does not know is as good as removed. */
export function deleteSubscription(
  project: ProjectAddress,
  endpoint: string,
  patience: Patience,
): Promise<void> {
  const url = `${addressOf(project)}?endpoint=${encodeURIComponent(endpoint)}`;
  return request(url, { method: routes.unsubscribe.method }, patience);
}

function addressOf({ baseUrl, projectId }: ProjectAddress): string {
  return baseUrl + pathOf(routes.subscribe, { projectId });
}

/**
 * Network errors, 429 and 503 are retried; any other response is final. A page of another origin
 * sees the gateway's 429 and 503 as network errors: they have no CORS headers.
 * @throws {CarillonError}
 */
async function request(
  url: string,
  init: RequestInit,
  { retries, timeoutMs, wait }: Patience,
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
    const sentence = `No response from ${new URL(url).origin} that this page can read.`;
    return new CarillonError('network_error', sentence, { cause });
  }
}
