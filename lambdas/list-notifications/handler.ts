import { routes } from '../../contract/routes.ts';
import { notificationListQuerySchema } from '../../contract/schemas/notification-list.ts';
import { ownerChain } from '../http/chain.ts';
import { query } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { countChecker } from '../results/count-checker.ts';
import { routeFunction } from '../route-function.ts';
import { notificationStore } from '../store/notifications.ts';
import { projectStore } from '../store/projects.ts';
import { tallyStore } from '../store/tallies.ts';
import { listNotifications } from './list-notifications.ts';

const { environment, clock, logger, dynamo, settings } = routeFunction(routes.listNotifications, [
  'NOTIFICATIONS_TABLE',
  'TALLIES_TABLE',
]);

const checker = countChecker(logger);
const deps = {
  notifications: notificationStore(dynamo, environment.NOTIFICATIONS_TABLE),
  tallies: tallyStore(dynamo, environment.TALLIES_TABLE),
  clock,
};

const projects = projectStore(dynamo, environment.PROJECTS_TABLE, clock);

export const handler = ownerChain({ ...settings, projects }, async (event) => {
  const page = query(event, notificationListQuerySchema);
  return listNotifications(deps, event.project, page, event.signal);
}).handler(async ({ project, input: list }) => {
  for (const one of list.notifications) checker.notification(project.projectId, one.id, one);
  return respond(200, list);
});
