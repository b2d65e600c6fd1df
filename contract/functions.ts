import type { EnvironmentName } from './environment.ts';
import type { FunctionName } from './routes.ts';
import { type TableName, type TableVariable, tableVariables } from './tables.ts';
import { sendTimeline, sliceTimeline } from './timeline.ts';

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
const small = { memoryMb: 512, timeoutMs: 10_000 } as const;
/** Encryption uses one thread, so one vCPU. */
const pushing = { memoryMb: 1769, reportsInvocations: true } as const;

const tablesOfRoutes = { projects: ['GetItem'], rateLimits: ['UpdateItem'] } as const;
const variablesOfRoutes = [
  'RATE_LIMIT_PER_MINUTE',
  'ORIGIN_SECRET_HASHES',
  'REQUIRE_ORIGIN_SECRET',
] as const;

/** For reading an audience, signing, pushing, correcting and removing subscriptions, and storing what was pushed. */
const tablesOfPushing = {
  projects: ['GetItem'],
  vapidKeys: ['GetItem'],
  subscriptions: ['Query', 'Query byUser', 'GetItem', 'UpdateItem', 'DeleteItem'],
  deliveries: ['UpdateItem', 'BatchGetItem'],
} as const;
const variablesOfPushing = ['VAPID_SUBJECT', 'EXTRA_PUSH_ORIGINS', 'PREFER_IPV6'] as const;

/** Every function: one for each route, deliver, which only send invokes, and console, which serves its page. */
export const functions = {
  subscribe: {
    ...small,
    tables: {
      ...tablesOfRoutes,
      identityKeys: ['GetItem'],
      subscriptions: ['PutItem', 'UpdateItem'],
      usage: ['UpdateItem', 'Query'],
    },
    variables: [...variablesOfRoutes, 'SUBSCRIBER_CAP', 'EXTRA_PUSH_ORIGINS'],
  },
  unsubscribe: {
    ...small,
    tables: { ...tablesOfRoutes, subscriptions: ['DeleteItem'], usage: ['UpdateItem'] },
    variables: variablesOfRoutes,
  },
  getProject: {
    ...small,
    tables: { ...tablesOfRoutes, subscriptions: ['Query'], usage: ['Query'] },
    variables: [...variablesOfRoutes, 'SUBSCRIBER_CAP', 'MONTHLY_SEND_CAP'],
  },
  send: {
    ...pushing,
    timeoutMs: sendTimeline.timeoutMs,
    tables: {
      ...tablesOfRoutes,
      ...tablesOfPushing,
      // A send checks that the parts of the subscriber counter exist: the project was not deleted.
      usage: ['UpdateItem', 'Query', 'ConditionCheckItem'],
      notifications: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'],
    },
    variables: [
      ...variablesOfRoutes,
      ...variablesOfPushing,
      'MONTHLY_SEND_CAP',
      'PUSHES_PER_SECOND',
      'DELIVER_FUNCTION',
      'AWS_ENDPOINT_URL_LAMBDA',
      'PUBLIC_BASE_URL',
    ],
  },
  listNotifications: {
    ...small,
    tables: { ...tablesOfRoutes, notifications: ['Query'], deliveries: ['BatchGetItem'] },
    variables: variablesOfRoutes,
  },
  getNotification: {
    ...small,
    tables: { ...tablesOfRoutes, notifications: ['GetItem'], deliveries: ['BatchGetItem'] },
    variables: variablesOfRoutes,
  },
  stopNotification: {
    ...small,
    tables: {
      ...tablesOfRoutes,
      notifications: ['GetItem'],
      deliveries: ['BatchGetItem', 'UpdateItem'],
    },
    variables: variablesOfRoutes,
  },
  track: {
    ...small,
    // Nobody waits for its response, and it mostly waits for DynamoDB itself: half the memory makes its time a third
    // cheaper.
    memoryMb: 256,
    tables: { ...tablesOfRoutes, deliveries: ['UpdateItem'] },
    variables: variablesOfRoutes,
  },
  getUser: {
    ...small,
    tables: { ...tablesOfRoutes, subscriptions: ['Query byUser'] },
    variables: variablesOfRoutes,
  },
  removeUser: {
    ...small,
    tables: {
      ...tablesOfRoutes,
      subscriptions: ['Query byUser', 'DeleteItem'],
      usage: ['UpdateItem'],
    },
    variables: variablesOfRoutes,
  },
  deliver: {
    ...pushing,
    timeoutMs: sliceTimeline.timeoutMs,
    tables: { ...tablesOfPushing, usage: ['UpdateItem'] },
    variables: variablesOfPushing,
  },
  // Its page is public, and calls the routes with the key of its user.
  console: {
    ...small,
    tables: {},
    variables: ['ORIGIN_SECRET_HASHES', 'REQUIRE_ORIGIN_SECRET'],
  },
} as const satisfies Record<FunctionName, FunctionFacts>;

type Functions = typeof functions;

/** The variables that a function reads. */
export type VariableOf<Name extends FunctionName> =
  | Functions[Name]['variables'][number]
  | (typeof tableVariables)[keyof Functions[Name]['tables'] & TableName];

/** Those that the functions of all routes read. */
export type RouteVariable =
  | (typeof variablesOfRoutes)[number]
  | (typeof tableVariables)[keyof typeof tablesOfRoutes];

export function variablesOf<Name extends FunctionName>(name: Name): readonly VariableOf<Name>[] {
  const { tables, variables } = functions[name];
  const named = (Object.keys(tables) as TableName[]).map((table) => tableVariables[table]);
  return [...named, ...variables] as VariableOf<Name>[];
}
