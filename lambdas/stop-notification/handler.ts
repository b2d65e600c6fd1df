import { readEnvironment } from '../../contract/infrastructure/environment.ts';
import { routes } from '../../contract/wire/routes.ts';
import { type Host, lambda } from '../host.ts';
import { ownerChain } from '../http/chain.ts';
import { respond } from '../http/response.ts';
import { notificationFunction } from '../notification-function.ts';
import { findNotification, notificationResult } from '../results/notification-result.ts';
import { auditStore, recorder } from '../store/audit.ts';
import { stopNotification } from './stop-notification.ts';

export function createHandler(host: Host) {
  const { logger, dynamo, deps, checker, settings } = notificationFunction(
    routes.stopNotification,
    host,
  );
  const { AUDIT_TABLE } = readEnvironment(['AUDIT_TABLE'], host.variables);
  const audit = auditStore(dynamo, AUDIT_TABLE, deps.clock, host.randomBytes);
  const record = recorder(audit, logger);

  return ownerChain(settings, ({ project, ids, signal }) =>
    findNotification(deps, project, ids.notificationId, signal),
  ).handler(async ({ project, access, input: found, signal }) => {
    const { projectId } = project;
    const stopping = {
      ...deps,
      record: () => record(access, { projectId, action: 'stopNotification', count: 1 }, signal),
    };
    const { notification, delivery } = await stopNotification(stopping, project, found, signal);
    const result = notificationResult(notification, delivery, deps.clock());
    checker.notification(projectId, result.id, result);
    return respond(200, result);
  });
}

export const handler = createHandler(lambda);
