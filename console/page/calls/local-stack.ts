import { attempt, bodyOrThrow } from '../../../sdk/server/attempt.ts';
import { type LocalSession, localPaths } from '../../local-stack.ts';

/** The demo project of `npm start`, if it serves this page. A deployed service never has these hosts. */
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
