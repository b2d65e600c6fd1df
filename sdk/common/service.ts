import type { StatedChoice } from '../../contract/wire/fields.ts';
import type { routes } from '../../contract/wire/routes.ts';
import { within } from './timing.ts';

/** Address of a project at the service, and the key with which browsers subscribe to it. */
export interface ProjectAddress {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly projectId: string;
  /** Base64url without padding. */
  readonly applicationServerKey: string;
  /** False: the browser reports no events. */
  readonly events?: boolean | undefined;
  /** How many shown notifications the browser keeps. Undefined, or 0: none. */
  readonly history?: number | undefined;
}

/**
 * What a registration says of the visitor, with the proof of the user id, which the site's server has made. Of a browser
 * that has not been registered from here, the service may have imported it: it keeps what a request leaves out.
 * A user id that is null is nobody, and one that is undefined is not known. Channels that are null are not known, and
 * undefined if nobody has chosen any.
 */
export type SignedChoice = {
  readonly [Name in keyof StatedChoice]: StatedChoice[Name] | null;
} & { readonly userIdSignature?: string | undefined };

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

/** A request without a successful response. Pages turn it into an error for people. */
export interface Failure {
  /** Undefined: there is none that can be read. */
  readonly response?: Response;
  /** Why there is no response. */
  readonly cause?: unknown;
}

/** The first pause in the background. */
export const backgroundPauseMs = 10_000;

/**
 * Registers a subscription, or updates it.
 * @param subscription made with the key of the project's address. With another key, the request only finds out whether
 *   the service has the key of the address.
 * @param renewal whether no visitor has asked: the service keeps what the choice leaves out.
 * @param replaces the endpoint that the browser had before. A new one takes its place, unless that was erased and this is
 *   a renewal.
 */
export function postSubscription(
  project: ProjectAddress,
  subscription: SubscriptionJson,
  choice: SignedChoice,
  makeRequest: MakeRequest,
  renewal?: boolean,
  replaces?: string,
): Promise<void> {
  const { channels } = choice;
  const body = JSON.stringify(
    plain({
      ...subscription,
      ...choice,
      keys: plain({ ...subscription.keys }),
      channels: channels ? plain([...channels]) : undefined,
      applicationServerKey: project.applicationServerKey,
      renewal,
      replaces,
    }),
  );
  const headers = { 'content-type': 'application/json' };
  return makeRequest(projectUrl(project), { method: subscribeMethod, headers, body });
}

/** Old libraries give every object or array of the page a method `toJSON`. */
function plain<Value extends object>(value: Value): Value {
  return Object.assign(value, { toJSON: undefined });
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
export function isTransient({ response, cause }: Failure): boolean {
  return response ? response.status === 429 || response.status >= 500 : !!cause;
}

/**
 * One attempt. In the background, the caller stores the pause.
 * @throws {Failure}
 * @throws {TypeError} if the URL is malformed.
 */
export async function requestOnce(
  url: string,
  init: RequestInit,
  timeoutMs = requestTimeoutMs,
): Promise<void> {
  // A malformed URL is not a failure of the network.
  void new URL(url);
  // Pages replace `fetch`: some replacements ignore the signal, or send cookies, which the service refuses.
  const response = await within(timeoutMs, (signal) =>
    fetch(url, { ...init, credentials: 'omit', signal }),
  ).catch((cause) => {
    throw { cause };
  });
  if (!response.ok) throw { response };
}
