import { attempt, bodyOrThrow } from '../../../sdk/server/attempt.ts';
import { type ReceivedCount, simulatedBrowsersPath } from '../../settings.ts';

/** Subscribes simulated browsers to a project. @throws {CarillonError} the service's, if it refuses one. */
export async function addSimulatedBrowsers(
  projectId: string,
  applicationServerKey: string,
  count: number,
): Promise<void> {
  await call('POST', { projectId, applicationServerKey, count: String(count) });
}

/** The number of simulated browsers that received the notification. */
export async function receivedCount(notificationId: string): Promise<number> {
  const { received } = await call<ReceivedCount>('GET', { notificationId });
  return received;
}

async function call<Body>(method: string, query: Record<string, string>): Promise<Body> {
  const url = new URL(simulatedBrowsersPath, location.origin);
  url.search = new URLSearchParams(query).toString();
  return bodyOrThrow(await attempt<Body>(url, { method, cache: 'no-store' }));
}
