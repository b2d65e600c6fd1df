/** Names of the tables that hold a project's items. */
export interface ProjectTables {
  readonly projects: string;
  readonly vapidKeys: string;
  readonly subscriptions: string;
  readonly usage: string;
  readonly notifications: string;
}
