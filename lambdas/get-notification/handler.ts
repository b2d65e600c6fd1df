import { routes } from '../../contract/routes.ts';
import { ownerChain } from '../http/chain.ts';
import { respond } from '../http/response.ts';
import { countChecker } from '../results/count-checker.ts';
import { routeFunction } from '../route-function.ts';
import { notificationStore } from '../store/notifications.ts';
import { projectStore } from '../store/projects.ts';
import { tallyStore } from '../store/tallies.ts';
import { getNotification } from './get-notification.ts';

const { environment, clock, logger, dynamo, settings } = routeFunction(routes.getNotification, [
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

export const handler = ownerChain({ ...settings, projects }, ({ project, ids, signal }) =>
  getNotification(deps, project, ids.notificationId, signal),
).handler(async ({ project, input: notification }) => {
  checker.notification(project.projectId, notification.id, notification);
  return respond(200, notification);
});
