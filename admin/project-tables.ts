/** Names of the tables with items of projects. */
export interface ProjectTables {
  readonly projects: string;
  readonly vapidKeys: string;
  readonly subscriptions: string;
  readonly usage: string;
  readonly notifications: string;
}
