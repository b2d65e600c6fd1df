import { routes } from '../../contract/routes.ts';
import { ownerChain } from '../http/chain.ts';
import { respond } from '../http/response.ts';
import { countChecker } from '../results/count-checker.ts';
import { findNotification } from '../results/find-notification.ts';
import { notificationResult } from '../results/notification-result.ts';
import { routeFunction } from '../route-function.ts';
import { notificationStore } from '../store/notifications.ts';
import { projectStore } from '../store/projects.ts';
import { tallyStore } from '../store/tallies.ts';
import { stopNotification } from './stop-notification.ts';

const { environment, clock, logger, dynamo, settings } = routeFunction(routes.stopNotification, [
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
  findNotification(deps, project, ids.notificationId, signal),
).handler(async ({ project, input: found, signal }) => {
  const { notification, tallies } = await stopNotification(deps, project, found, signal);
  const result = notificationResult(notification, tallies, clock());
  checker.notification(project.projectId, result.id, result);
  return respond(200, result);
});
