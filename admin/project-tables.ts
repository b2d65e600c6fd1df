const variables = {
  projects: 'PROJECTS_TABLE',
  vapidKeys: 'VAPID_KEYS_TABLE',
  identityKeys: 'IDENTITY_KEYS_TABLE',
  subscriptions: 'SUBSCRIPTIONS_TABLE',
  usage: 'USAGE_TABLE',
  notifications: 'NOTIFICATIONS_TABLE',
  deliveries: 'DELIVERIES_TABLE',
} as const;

type Variables = typeof variables;

/** Names of the tables with items of projects. */
export type ProjectTables = { readonly [Table in keyof Variables]: string };

/** @param names table names by the environment variable that contains them. */
export function projectTables(
  names: Readonly<Record<Variables[keyof Variables], string>>,
): ProjectTables {
  const tables = Object.entries(variables).map(([table, variable]) => [table, names[variable]]);
  return Object.fromEntries(tables) as ProjectTables;
}
