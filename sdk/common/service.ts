import { pathOf, routes } from '../../lambdas/contract/routes.ts';
import { CarillonError, errorOf } from './error.ts';

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

export interface Patience {
  /** Milliseconds before each retry. */
  readonly pauses: readonly number[];
  /** Milliseconds a single answer may take. */
  readonly answer: number;
  /** The most seconds of a `Retry-After` that are waited for; with more, the error is the app's. */
  readonly retryAfter: number;
  readonly wait: (ms: number) => Promise<unknown>;
}

export const patience: Patience = {
  pauses: [500, 1500, 4500],
  answer: 10_000,
  retryAfter: 10,
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms * (0.5 + Math.random() / 2))),
};

/** Registers a subscription, or updates it: without `userId`, it belongs to no user. */
export function postSubscription(
  project: ProjectAddress,
  subscription: SubscriptionJson,
  userId: string | undefined,
  calm = patience,
): Promise<void> {
  const body = JSON.stringify({ ...subscription, userId });
  const headers = { 'content-type': 'application/json' };
  return request(addressOf(project), { method: routes.subscribe.method, headers, body }, calm);
}

/** Removes a subscription. One that the service does not know is as good as removed. */
export function deleteSubscription(
  project: ProjectAddress,
  endpoint: string,
  calm = patience,
): Promise<void> {
  const url = `${addressOf(project)}?endpoint=${encodeURIComponent(endpoint)}`;
  return request(url, { method: routes.unsubscribe.method }, calm);
}

function addressOf({ baseUrl, projectId }: ProjectAddress): string {
  return baseUrl + pathOf(routes.subscribe, { projectId });
}

/**
 * Network errors and 503 are tried again, after a pause that grows; any other answer is final.
 * @throws {CarillonError}
 */
async function request(url: string, init: RequestInit, calm: Patience): Promise<void> {
  for (const pause of [...calm.pauses, undefined]) {
    const failure = await attempt(url, init, calm.answer);
    if (failure === undefined) return;
    const { status, retryAfter = 0 } = failure;
    const passing = status === undefined || status === 503;
    if (!passing || pause === undefined || retryAfter > calm.retryAfter) throw failure;
    await calm.wait(Math.max(pause, retryAfter * 1000));
  }
}

async function attempt(
  url: string,
  init: RequestInit,
  time: number,
): Promise<CarillonError | undefined> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(time) });
    return response.ok ? undefined : await errorOf(response);
  } catch (cause) {
    return new CarillonError('network_error', `${new URL(url).origin} cannot be reached.`, {
      cause,
    });
  }
}
