import { routes } from '../../contract/wire/routes.ts';
import { type Host, lambda } from '../host.ts';
import { ownerChain } from '../http/chain.ts';
import { respond } from '../http/response.ts';
import { notificationFunction } from '../notification-function.ts';
import { readableBy } from '../results/notification-result.ts';
import { getNotification } from './get-notification.ts';

export function createHandler(host: Host) {
  const { deps, checker, settings } = notificationFunction(routes.getNotification, host);

  return ownerChain(settings, ({ project, ids, signal }) =>
    getNotification(deps, project, ids.notificationId, signal),
  ).handler(async ({ project, access, input: notification }) => {
    checker.notification(project.projectId, notification.id, notification);
    return respond(200, readableBy(access, notification));
  });
}

export const handler = createHandler(lambda);
