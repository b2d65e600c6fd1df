import { bodyOrThrow } from '../../../sdk/server/attempt.ts';
import { ProjectClient } from '../../../sdk/server/project-client.ts';

/** The service responds within 30 s, or its gateway does. */
const timeoutMs = 40_000;

/**
 * Calls the service at this page's origin. There are no retries: a person sees what failed, and decides.
 * @param key secret key or member key.
 */
export function projectClient(projectId: string, key: string): ProjectClient {
  return new ProjectClient(
    { baseUrl: location.origin, projectId, secretKey: key },
    async (attempt, signal) => {
      const signals = [AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])];
      return bodyOrThrow(await attempt(AbortSignal.any(signals)));
    },
  );
}
