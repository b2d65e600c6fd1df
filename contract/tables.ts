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
} as const;

export type TableName = keyof typeof tableVariables;
export type TableVariable = (typeof tableVariables)[TableName];

export const tableNames = Object.keys(tableVariables) as readonly TableName[];

/** A table's construct in the stack. */
export function constructIdOf(table: TableName): string {
  return table[0]!.toUpperCase() + table.slice(1);
}

/** The stack's output with a table's name, such as `VapidKeysTable`. */
export function outputOf(table: TableName): string {
  return `${constructIdOf(table)}Table`;
}
