import type { EnvironmentName } from './environment.ts';
import type { TableName, TableVariable } from './tables.ts';

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
