import type { ProjectClient } from '../../../sdk/server/project-client.ts';

/** Not bundled: the page tests the file that sites use. Only `npm start` serves it. */
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
