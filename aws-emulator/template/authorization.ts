import type { IncomingHttpHeaders } from 'node:http';
import type { Grant, Grants } from './iam-policy.ts';

/** Who signed a request: the logical id of a function, which its credentials contain. */
export function callerOf({ authorization = '' }: IncomingHttpHeaders): string {
  return /Credential=([^/]+)\//.exec(authorization)?.[1] ?? '';
}

/**
 * Checks what IAM checks before AWS performs a call.
 * @param needs permissions that the caller's role must have.
 * @returns IAM's message about the first of these that is not allowed; undefined if all are.
 */
export function accessDenial(
  caller: string,
  needs: readonly Grant[],
  grants: Grants,
): string | undefined {
  const own = grants.get(caller) ?? [];
  const refused = needs.find(
    (need) =>
      !own.some(({ action, resource }) => action === need.action && resource === need.resource),
  );
  if (refused === undefined) return undefined;
  const { action, resource } = refused;
  return (
    `${caller} is not authorized to perform: ${action} on resource: ${resource} ` +
    `because no identity-based policy allows the ${action} action`
  );
}
