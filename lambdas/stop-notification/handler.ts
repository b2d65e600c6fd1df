import { routes } from '../../contract/wire/routes.ts';
import { type Host, lambda } from '../host.ts';
import { ownerChain } from '../http/chain.ts';
import { respond } from '../http/response.ts';
import { notificationFunction } from '../notification-function.ts';
import { findNotification, notificationResult } from '../results/notification-result.ts';
import { stopNotification } from './stop-notification.ts';

export function createHandler(host: Host) {
  const { deps, checker, settings } = notificationFunction(routes.stopNotification, host);

  return ownerChain(settings, ({ project, ids, signal }) =>
    findNotification(deps, project, ids.notificationId, signal),
  ).handler(async ({ project, input: found, signal }) => {
    const { notification, delivery } = await stopNotification(deps, project, found, signal);
    const result = notificationResult(notification, delivery, deps.clock());
    checker.notification(project.projectId, result.id, result);
    return respond(200, result);
  });
}

export const handler = createHandler(lambda);
