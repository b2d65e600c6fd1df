import { type ErrorCode, errorTable } from '../../wire/errors.ts';
import { includes, type MemberRole, memberRoles, type Route } from '../../wire/routes.ts';
import type { Component, Described } from './schema.ts';

/** Documentation of a route that `contract/wire/routes.ts` does not have. */
export interface Operation {
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  readonly headers?: Described;
  readonly query?: Described;
  readonly body?: RequestBody;
  /** Errors that do not follow from the rest: see {@link errorsOf}. */
  readonly errors?: readonly ErrorCode[];
  /** By status, the usual one first. */
  readonly responses: Readonly<Record<number, SuccessResponse>>;
  /** By name. Each is tested: the reference shows it as a command that can be run. */
  readonly examples: Readonly<Record<string, Example>>;
}

export interface RequestBody {
  readonly content: Component;
  readonly limitBytes: number;
  /** Default: `application/json`. */
  readonly mediaTypes?: readonly string[];
}

export interface SuccessResponse {
  readonly description: string;
  readonly content: Component;
  /** Headers besides the ones that every response has. */
  readonly headers?: Readonly<Record<string, ResponseHeader>>;
}

export interface ResponseHeader {
  readonly description: string;
  readonly schema: object;
}

/** A request and its response. */
export interface Example {
  readonly summary: string;
  readonly request: {
    readonly query?: Readonly<Record<string, string>>;
    /** Besides the secret key and the content type. */
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: object;
  };
  readonly status: number;
  readonly response: object;
}

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

export const errorsOfEveryRoute: readonly ErrorCode[] = [
  'direct_request',
  'rate_limited',
  'internal_error',
  'unavailable',
];
const ofBodies = [
  'invalid_json',
  'invalid_request',
  'payload_too_large',
  'unsupported_media_type',
] as const;

/** The errors that a route can return, in the order of the table of errors. */
export function errorsOf(route: Route, { body, query, headers, errors = [] }: Operation) {
  const codes = new Set<string>([
    ...errorsOfEveryRoute,
    route.caller === 'owner' ? 'unauthorized' : 'project_not_found',
    ...(route.caller === 'owner' && rolesFor(route).length < memberRoles.length
      ? ['not_permitted']
      : []),
    ...(route.caller === 'browser' && route.checksOrigin ? ['origin_not_allowed'] : []),
    ...(route.path.includes('{notificationId}') ? ['notification_not_found'] : []),
    ...(body === undefined ? [] : ofBodies),
    ...(query === undefined && headers === undefined ? [] : ['invalid_request']),
    ...errors,
  ]);
  return (Object.keys(errorTable) as ErrorCode[]).filter((code) => codes.has(code));
}
