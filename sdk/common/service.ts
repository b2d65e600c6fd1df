import type { Choice } from '../../contract/choice.ts';
import type { routes } from '../../contract/routes.ts';
import { retryAfterSecondsOf } from './timing.ts';

/** Address of a project at the service, and the key with which browsers subscribe to it. */
export interface ProjectAddress {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly projectId: string;
  /** Base64url without padding. */
  readonly applicationServerKey: string;
}

/** The user of a browser, and what they chose: undefined, not absent, where nothing was. */
export type User = { readonly [Name in keyof Required<Choice>]: Choice[Name] } & {
  /** Proof of the user id, made by the site's server. */
  readonly userIdSignature: string | undefined;
};
/** Without who they are. */
export type Choices = Omit<User, 'userId' | 'userIdSignature'>;

/** The output of `PushSubscription.toJSON()`. */
interface SubscriptionJson {
  readonly endpoint?: string;
  readonly keys?: Readonly<Record<string, string>>;
}

/** Written out here because the table in the contract would add all routes to the SDK. */
type ProjectPath = Filled<typeof routes.subscribe.path & typeof routes.unsubscribe.path>;
type Filled<Path> = Path extends `${infer Start}{projectId}` ? `${Start}${string}` : never;
const subscribeMethod: typeof routes.subscribe.method = 'POST';
const unsubscribeMethod: typeof routes.unsubscribe.method = 'DELETE';

export const requestTimeoutMs = 15_000;

/** Makes a request. Rejects if there is no successful response. */
export type MakeRequest = (url: string, init: RequestInit) => Promise<void>;

/** One attempt, in the background, where the caller stores the pause. @throws {Failure} */
export const requestOnce: MakeRequest = async (url, init) => {
  const failure = await attemptRequest(url, init, requestTimeoutMs);
  if (failure) throw failure;
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

/** The first pause in the background. */
export const backgroundPauseMs = 10_000;

/**
 * Registers a subscription, or updates it. Without a user id, a stored one is cleared.
 * @param subscription made with the key of the project's address.
 */
export function postSubscription(
  project: ProjectAddress,
  subscription: SubscriptionJson,
  user: Partial<User>,
  makeRequest: MakeRequest,
): Promise<void> {
  const body = JSON.stringify({
    ...subscription,
    ...user,
    applicationServerKey: project.applicationServerKey,
  });
  const headers = { 'content-type': 'application/json' };
  return makeRequest(projectUrl(project), { method: subscribeMethod, headers, body });
}

/** Removes a subscription. Idempotent: the service also returns 200 for an unknown endpoint. */
export function deleteSubscription(
  project: ProjectAddress,
  endpoint: string,
  makeRequest: MakeRequest,
): Promise<void> {
  const url = `${projectUrl(project)}?endpoint=${encodeURIComponent(endpoint)}`;
  return makeRequest(url, { method: unsubscribeMethod });
}

function projectUrl({ baseUrl, projectId }: ProjectAddress): string {
  const path: ProjectPath = `/api/v1/projects/${projectId}`;
  return baseUrl + path;
}

/**
 * Whether a retry may succeed: after a network error, 429 or 5xx. The gateway's own responses have no
 * CORS headers, so another origin sees them as network errors.
 */
export function isTransient({ status = 500 }: Failure): boolean {
  return status === 429 || status >= 500;
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
