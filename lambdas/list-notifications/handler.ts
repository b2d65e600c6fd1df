import { notificationListQuerySchema } from '../../contract/wire/notification-list.ts';
import { routes } from '../../contract/wire/routes.ts';
import { type Host, lambda } from '../host.ts';
import { ownerChain } from '../http/chain.ts';
import { query } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { notificationFunction } from '../notification-function.ts';
import { readableBy } from '../results/notification-result.ts';
import { listNotifications } from './list-notifications.ts';

export function createHandler(host: Host) {
  const { deps, checker, settings } = notificationFunction(routes.listNotifications, host);

  return ownerChain(settings, async (event) => {
    const page = query(event, notificationListQuerySchema);
    return listNotifications(deps, event.project, page, event.signal);
  }).handler(async ({ project, access, input: list }) => {
    for (const one of list.notifications) checker.notification(project.projectId, one.id, one);
    const notifications = list.notifications.map((one) => readableBy(access, one));
    return respond(200, { ...list, notifications });
  });
}

export const handler = createHandler(lambda);
