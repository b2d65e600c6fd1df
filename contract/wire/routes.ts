import { sendTimeline, sliceTimeline } from '../infrastructure/delivery.ts';
import type { EnvironmentName } from '../infrastructure/environment.ts';
import { type TableName, type TableVariable, tableVariables } from '../infrastructure/tables.ts';

/** What the holder of a key may do, from least to most. `owner` is the secret key's; members' keys have the others. */
export const roles = ['viewer', 'sender', 'owner'] as const;
export type Role = (typeof roles)[number];

/** Where the API's address has the console. */
export const consolePath = '/console';

export const memberRoles = ['viewer', 'sender'] as const satisfies readonly Role[];
export type MemberRole = (typeof memberRoles)[number];

/** Whose key a request has. */
export type Access =
  | { readonly role: 'owner' }
  | {
      readonly role: MemberRole;
      /** The member's. */
      readonly name: string;
    };

/** @param least the least role that may do something. */
export function includes(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}

/**
 * What a function does with a table: an action of IAM, or a query of the index `byUser`. A transaction needs the
 * actions of its parts.
 */
export type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'Query byUser'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem';

/** The variables that are not the name of a table. */
export type OtherVariable = Exclude<EnvironmentName, TableVariable>;

/** The facts of a function: the stack gives it nothing else, and the function reads no other variable. */
export interface FunctionFacts {
  /** Lambda's share of the CPU is proportional to it: one vCPU at 1,769 MB. */
  readonly memoryMb: number;
  readonly timeoutMs: number;
  /** Whether Lambda logs two lines about each invocation, with its duration and memory. Default: only failures. */
  readonly reportsInvocations?: true;
  /** All that it may do with each table. The others it can neither read nor change. */
  readonly tables: Partial<Readonly<Record<TableName, readonly TableAction[]>>>;
  /** The variables that it reads besides the names of these tables. */
  readonly variables: readonly OtherVariable[];
}

/** For a few calls to DynamoDB. The memory is for a cold start; the time leaves room for the SDK's retries. */
export const small = { memoryMb: 512, timeoutMs: 10_000 } as const;

/** For reading an audience, signing, pushing, correcting and removing subscriptions, and storing what was pushed. */
export const pushing = {
  // Encryption uses one thread, so one vCPU.
  memoryMb: 1769,
  reportsInvocations: true,
  tables: {
    projects: ['GetItem'],
    vapidKeys: ['GetItem'],
    subscriptions: ['Query', 'Query byUser', 'GetItem', 'BatchGetItem', 'UpdateItem', 'DeleteItem'],
    deliveries: ['UpdateItem', 'BatchGetItem'],
  },
  variables: ['VAPID_SUBJECT', 'EXTRA_PUSH_ORIGINS', 'PREFER_IPV6'],
} as const;

/**
 * The routes of the service: all that is fact about each, except for its schemas and its documentation. The stack
 * builds API and functions from this table, the functions their chain, and SDK, documents and tests read it too.
 */

export type RouteName = keyof typeof facts;

interface RouteFacts extends Partial<FunctionFacts> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** In API Gateway's notation: `{projectId}`, `{notificationId}`. */
  readonly path: string;
  /** Whether this route's function also answers the path's preflight (OPTIONS). Default: no. */
  readonly answersPreflight?: true;
  /**
   * Requests per second that API Gateway passes on, for all callers together; or the setting that says it. A flood
   * above it blocks the route for all projects; the functions limit each caller, by address and project.
   *
   * 500 are 43 million requests a day. At 20 ms each (4 ms measured on the local stack, with two calls to DynamoDB)
   * they use 10 of the 1,000 concurrent executions of an account. New subscriptions conflict at the counter: fewer than
   * 50 executions, whatever their endpoints (test/reliability/contention.test.ts). Sends with a wrong secret key are
   * refused after at most two calls to DynamoDB. A valid send may take 29 s, so owners can use up the account's
   * concurrency: a throttle low enough to prevent that would let a flood block the route.
   */
  readonly throttle: 500 | 250 | 'eventsPerSecond';
}

/** Pages of any origin may call it, unless the project allows some only. */
interface BrowserRoute extends RouteFacts {
  readonly caller: 'browser';
  /** Whether a project can restrict it to pages of some origins. */
  readonly checksOrigin?: true;
}

/** It needs the secret key, which must not be in a browser, or a member key. */
interface OwnerRoute extends RouteFacts {
  readonly caller: 'owner';
  /** The least role that may call it. */
  readonly role: Role;
  /** What a caller with a lesser role is told that it may not do. */
  readonly action: string;
}

const project = '/api/v1/projects/{projectId}';
const notifications = `${project}/notifications` as const;
const notification = `${notifications}/{notificationId}` as const;
// The id is in the query, because it may contain a slash.
const users = `${project}/users` as const;

/**
 * Of its function, a row has what it adds to the facts of every route: tables and variables besides those of every route, and
 * other memory or time than those of a small function.
 */
const facts = {
  subscribe: {
    method: 'POST',
    path: project,
    throttle: 500,
    caller: 'browser',
    checksOrigin: true,
    // Also for unsubscribe, which has the same path.
    answersPreflight: true,
    tables: {
      identityKeys: ['GetItem'],
      // What it deletes is the hash of an erased endpoint.
      subscriptions: ['PutItem', 'UpdateItem', 'ConditionCheckItem', 'DeleteItem', 'BatchGetItem'],
      usage: ['UpdateItem', 'Query'],
    },
    variables: ['SUBSCRIBER_CAP', 'EXTRA_PUSH_ORIGINS'],
  },
  unsubscribe: {
    method: 'DELETE',
    path: project,
    throttle: 500,
    caller: 'browser',
    checksOrigin: true,
    tables: { subscriptions: ['GetItem', 'DeleteItem'], usage: ['UpdateItem'] },
  },
  getProject: {
    method: 'GET',
    path: project,
    // Few owners' servers and dashboards call these.
    throttle: 250,
    caller: 'owner',
    role: 'viewer',
    action: 'read the project',
    tables: { subscriptions: ['Query'], usage: ['Query'] },
    variables: ['SUBSCRIBER_CAP', 'MONTHLY_SEND_CAP'],
  },
  send: {
    method: 'POST',
    path: notifications,
    throttle: 500,
    caller: 'owner',
    role: 'sender',
    action: 'send notifications',
    ...pushing,
    timeoutMs: sendTimeline.timeoutMs,
    tables: {
      ...pushing.tables,
      // A send checks that the parts of the subscriber counter exist: the project was not deleted.
      usage: ['UpdateItem', 'Query', 'ConditionCheckItem'],
      notifications: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'],
    },
    variables: [
      ...pushing.variables,
      'MONTHLY_SEND_CAP',
      'NOTIFICATION_DAYS',
      'PUSHES_PER_SECOND',
      'DELIVER_FUNCTION',
      'PUBLIC_BASE_URL',
    ],
  },
  listNotifications: {
    method: 'GET',
    path: notifications,
    throttle: 250,
    caller: 'owner',
    role: 'viewer',
    action: 'list notifications',
    tables: { notifications: ['Query'], deliveries: ['BatchGetItem'] },
  },
  getNotification: {
    method: 'GET',
    path: notification,
    throttle: 500,
    caller: 'owner',
    role: 'viewer',
    action: 'read notifications',
    tables: { notifications: ['GetItem'], deliveries: ['BatchGetItem'] },
  },
  stopNotification: {
    method: 'DELETE',
    path: notification,
    throttle: 250,
    caller: 'owner',
    role: 'sender',
    action: 'stop notifications',
    tables: {
      notifications: ['GetItem'],
      deliveries: ['BatchGetItem', 'UpdateItem'],
      audit: ['PutItem'],
    },
  },
  track: {
    method: 'POST',
    path: `${notification}/events`,
    throttle: 'eventsPerSecond',
    caller: 'browser',
    answersPreflight: true,
    // Nobody waits for its response, and it mostly waits for DynamoDB itself: half the memory makes its time a third
    // cheaper.
    memoryMb: 256,
    tables: { deliveries: ['UpdateItem'] },
  },
  getUser: {
    method: 'GET',
    path: users,
    throttle: 250,
    caller: 'owner',
    role: 'sender',
    action: 'read what is stored about a user',
    tables: { subscriptions: ['Query byUser', 'BatchGetItem'] },
  },
  removeUser: {
    method: 'DELETE',
    path: users,
    throttle: 250,
    caller: 'owner',
    role: 'owner',
    action: 'remove users or their devices',
    tables: {
      subscriptions: ['Query byUser', 'DeleteItem', 'PutItem'],
      usage: ['UpdateItem'],
      audit: ['PutItem'],
    },
  },
} as const satisfies Readonly<Record<string, BrowserRoute | OwnerRoute>>;

type Facts = typeof facts;

export type Route = { readonly name: RouteName } & (BrowserRoute | OwnerRoute);

/** A route of this caller. */
export type RouteOf<Caller extends Route['caller']> = Extract<Route, { readonly caller: Caller }>;

export const routes = Object.fromEntries(
  Object.entries(facts).map(([name, one]) => [name, { name, ...one }]),
) as { readonly [Name in RouteName]: { readonly name: Name } & Facts[Name] };

export const routeNames = Object.keys(facts) as readonly RouteName[];

const ofEveryRoute = {
  tables: { projects: ['GetItem'], rateLimits: ['UpdateItem'] },
  variables: ['RATE_LIMIT_PER_MINUTE', 'ORIGIN_SECRET_HASHES', 'REQUIRE_ORIGIN_SECRET'],
} as const;

const others = {
  /** Only send invokes it. */
  deliver: {
    ...pushing,
    timeoutMs: sliceTimeline.timeoutMs,
    tables: { ...pushing.tables, usage: ['UpdateItem'] },
  },
  /** Its page is public, and calls the routes with the key of its user. */
  console: {
    ...small,
    tables: {},
    variables: ['ORIGIN_SECRET_HASHES', 'REQUIRE_ORIGIN_SECRET'],
  },
} as const satisfies Readonly<Record<string, FunctionFacts>>;

/** Every function: one for each route, deliver and console. */
export type FunctionName = RouteName | keyof typeof others;

function functionOf(route: Route): FunctionFacts {
  const {
    memoryMb,
    timeoutMs,
    reportsInvocations,
    tables,
    variables = [],
  } = { ...small, ...route };
  return {
    memoryMb,
    timeoutMs,
    ...(reportsInvocations && { reportsInvocations }),
    tables: { ...ofEveryRoute.tables, ...tables },
    variables: [...ofEveryRoute.variables, ...variables],
  };
}

const ofRoutes = Object.fromEntries(
  Object.values(routes).map((route) => [route.name, functionOf(route)]),
) as Readonly<Record<RouteName, FunctionFacts>>;

export const functions: Readonly<Record<FunctionName, FunctionFacts>> = { ...ofRoutes, ...others };

export const functionNames = Object.keys(functions) as readonly FunctionName[];

type Rows = typeof routes & typeof others;
type Named<Tables> = (typeof tableVariables)[keyof Tables & TableName];

/** The variables that the functions of all routes read. */
export type RouteVariable =
  | (typeof ofEveryRoute)['variables'][number]
  | Named<typeof ofEveryRoute.tables>;

type Listed<Row> = Row extends { readonly variables: readonly (infer Name extends OtherVariable)[] }
  ? Name
  : never;

/** The variables that a function reads. */
export type VariableOf<Name extends FunctionName> =
  | Listed<Rows[Name]>
  | (Rows[Name] extends { readonly tables: infer Tables } ? Named<Tables> : never)
  | (Name extends RouteName ? RouteVariable : never);

export function variablesOf<Name extends FunctionName>(name: Name): readonly VariableOf<Name>[] {
  const { tables, variables } = functions[name];
  const named = (Object.keys(tables) as TableName[]).map((table) => tableVariables[table]);
  const all: readonly (TableVariable | OtherVariable)[] = [...named, ...variables];
  return all as readonly VariableOf<Name>[];
}
