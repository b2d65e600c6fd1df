import { attempt, bodyOrThrow } from '../../../sdk/server/attempt.ts';
import type { ProjectClient } from '../../../sdk/server/project-client.ts';
import { type LocalSession, localPaths } from '../../local-stack.ts';

/** What only `npm start` serves: the demo project's key, simulated browsers, and the SDK for this browser. */

/** The demo project, if `npm start` serves this page. A deployed service never has these hosts. */
export async function localSession(): Promise<LocalSession | undefined> {
  if (!['localhost', '127.0.0.1'].includes(location.hostname)) return undefined;
  const response = await fetch(localPaths.session, { cache: 'no-store' }).catch(() => undefined);
  return response?.ok ? response.json() : undefined;
}

/** Subscribes simulated browsers to a project. @throws {CarillonError} the service's, if it refuses one. */
export async function addSimulatedBrowsers(
  projectId: string,
  applicationServerKey: string,
  count: number,
): Promise<void> {
  const url = new URL(localPaths.simulatedBrowsers, location.origin);
  const query = { projectId, applicationServerKey, count: String(count) };
  url.search = new URLSearchParams(query).toString();
  bodyOrThrow(await attempt(url, { method: 'POST' }));
}

/** Not bundled: the page tests the file that sites use. */
const sdkPath = '/carillon.mjs';

/** The SDK for a project, and the options that it was started with. */
export async function startSdk(client: ProjectClient) {
  const [{ init }, { applicationServerKey }] = await Promise.all([
    import(/* @vite-ignore */ sdkPath) as Promise<typeof import('../../../sdk/client/carillon.ts')>,
    client.project(),
  ]);
  const { projectId } = client;
  const options = { baseUrl: location.origin, projectId, applicationServerKey };
  return { push: init(options), options };
}

/**
 * Subscribes this browser, also if the service has lost its subscription.
 * @returns a user id that no other browser has.
 */
export async function subscribedUserId(client: ProjectClient): Promise<string> {
  const { push } = await startSdk(client);
  const stored = (await push.state()).userId;
  const userId = stored ?? `console-${crypto.randomUUID()}`;
  await push.subscribe(stored === undefined ? { userId } : {});
  const { subscriptions } = await client.user(userId);
  if (subscriptions > 1) {
    throw new Error(
      `${subscriptions} browsers have the user id ${userId}: all of them would get the test. Give this browser another user id under “Local stack”.`,
    );
  }
  return userId;
}
