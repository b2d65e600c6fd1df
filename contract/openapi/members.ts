import { includes, type MemberRole, memberRoles, type Route } from '../routes.ts';
import type { Operation } from './operation.ts';

/** The roles of the members that may call a route. */
export function rolesFor(route: Route): readonly MemberRole[] {
  if (route.caller === 'browser') return [];
  return memberRoles.filter((role) => includes(role, route.role));
}

/** The description of an operation, with the keys that it takes. */
export function descriptionOf(route: Route, { description }: Operation): string {
  if (route.caller === 'browser') return description;
  const allowed = rolesFor(route).map((role) => `\`${role}\``);
  const keys =
    allowed.length === 0
      ? 'Takes the secret key only.'
      : `Takes the secret key, or a member key with the role ${allowed.join(' or ')}.`;
  return `${description} ${keys}`;
}
