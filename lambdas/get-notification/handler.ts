import { routes } from '../../contract/wire/routes.ts';
import { ownerChain } from '../http/chain.ts';
import { respond } from '../http/response.ts';
import { notificationFunction } from '../notification-function.ts';
import { getNotification } from './get-notification.ts';

const { deps, checker, settings } = notificationFunction(routes.getNotification);

export const handler = ownerChain(settings, ({ project, ids, signal }) =>
  getNotification(deps, project, ids.notificationId, signal),
).handler(async ({ project, input: notification }) => {
  checker.notification(project.projectId, notification.id, notification);
  return respond(200, notification);
});
