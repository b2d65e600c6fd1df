/** The tables of the service, each with the environment variable that has its name. */
export const tableVariables = {
  projects: 'PROJECTS_TABLE',
  vapidKeys: 'VAPID_KEYS_TABLE',
  identityKeys: 'IDENTITY_KEYS_TABLE',
  subscriptions: 'SUBSCRIPTIONS_TABLE',
  usage: 'USAGE_TABLE',
  notifications: 'NOTIFICATIONS_TABLE',
  deliveries: 'DELIVERIES_TABLE',
  rateLimits: 'RATE_LIMITS_TABLE',
  audit: 'AUDIT_TABLE',
} as const;

export type TableName = keyof typeof tableVariables;
export type TableVariable = (typeof tableVariables)[TableName];

/** What the items of each table are found by, whether they expire, and how the table is kept. */
export const tableKeys = {
  projects: { partitionKey: 'projectId' },
  vapidKeys: { partitionKey: 'projectId', isUseLogged: true },
  identityKeys: { partitionKey: 'projectId', isUseLogged: true },
  subscriptions: {
    partitionKey: 'projectPart',
    sortKey: 'endpointHash',
    hasBinarySortKey: true,
    // Hashes of erased endpoints do, and subscriptions do not.
    expires: true,
  },
  usage: { partitionKey: 'projectRef', sortKey: 'period' },
  notifications: { partitionKey: 'projectRef', sortKey: 'notificationId', expires: true },
  deliveries: { partitionKey: 'id', expires: true },
  rateLimits: { partitionKey: 'bucket', expires: true, hasNoRecovery: true },
  audit: { partitionKey: 'projectId', sortKey: 'at', expires: true },
} as const satisfies Readonly<Record<TableName, TableKey>>;

export interface TableKey {
  readonly partitionKey: string;
  readonly sortKey?: string;
  /** Whether the sort key is bytes. Default: a string. */
  readonly hasBinarySortKey?: true;
  /** Whether DynamoDB deletes items after their `expiresAt`, in epoch seconds. */
  readonly expires?: true;
  /**
   * Whether it is encrypted with the account's key `aws/dynamodb`, each use of which CloudTrail logs. It does not log the use
   * of the default key, which AWS owns.
   */
  readonly isUseLogged?: true;
  /** Whether it cannot be restored to an earlier second, as the others can. */
  readonly hasNoRecovery?: true;
}

/**
 * The index of Subscriptions by user; sparse. It has keys only: CloudFormation cannot add an attribute to an index, and the
 * table says who has a subscription now. The sort key is a number.
 */
export const byUser = {
  name: 'byUser',
  partitionKey: 'projectUser',
  sortKey: 'userSince',
} as const;

export const tableNames = Object.keys(tableVariables) as readonly TableName[];

/** A table's construct in the stack. */
export function constructIdOf(table: TableName): string {
  return table[0]!.toUpperCase() + table.slice(1);
}

/** The stack's output with a table's name, such as `VapidKeysTable`. */
export function outputOf(table: TableName): string {
  return `${constructIdOf(table)}Table`;
}

/** Names of the tables with items of projects: what ends with them. */
export type ProjectTables = Readonly<Record<Exclude<TableName, 'rateLimits' | 'audit'>, string>>;

/** Tables that a backup has. */
export type RestoredTables = Omit<ProjectTables, 'notifications' | 'deliveries'>;

/** @param names table names by the environment variable that contains them. */
export function projectTables(
  names: Readonly<Record<TableVariable, string>>,
): Readonly<Record<TableName, string>> {
  const tables = Object.entries(tableVariables).map(([table, variable]) => [
    table,
    names[variable],
  ]);
  return Object.fromEntries(tables) as Record<TableName, string>;
}
