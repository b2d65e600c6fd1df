import { bodyOrThrow } from '../../../sdk/server/attempt.ts';
import { ProjectClient } from '../../../sdk/server/project-client.ts';

/** The service responds within 30 s, or its gateway does; the console's server after 35 s. */
const timeoutMs = 40_000;

/**
 * Calls the service through this page's origin: `npm start` serves both, and `npm run console` forwards
 * the calls. There are no retries: a person sees what failed, and decides.
 */
export function projectClient(projectId: string, secretKey: string): ProjectClient {
  return new ProjectClient({ baseUrl: location.origin, projectId, secretKey }, async (attempt) =>
    bodyOrThrow(await attempt(AbortSignal.timeout(timeoutMs))),
  );
}
