import { type ErrorCode, errorTable } from '../errors.ts';
import { memberRoles, type Route } from '../routes.ts';
import { rolesFor } from './members.ts';
import type { Operation } from './operation.ts';

const ofEveryRoute = ['direct_request', 'rate_limited', 'internal_error', 'unavailable'] as const;
const ofBodies = [
  'invalid_json',
  'invalid_request',
  'payload_too_large',
  'unsupported_media_type',
] as const;

/** The errors that a route can return, in the order of the table of errors. */
export function errorsOf(route: Route, { body, query, headers, errors = [] }: Operation) {
  const codes = new Set<string>([
    ...ofEveryRoute,
    route.caller === 'owner' ? 'unauthorized' : 'project_not_found',
    ...(route.caller === 'owner' && rolesFor(route).length < memberRoles.length
      ? ['not_permitted']
      : []),
    ...(route.path.includes('{notificationId}') ? ['notification_not_found'] : []),
    ...(body === undefined ? [] : ofBodies),
    ...(query === undefined && headers === undefined ? [] : ['invalid_request']),
    ...errors,
  ]);
  return (Object.keys(errorTable) as ErrorCode[]).filter((code) => codes.has(code));
}
