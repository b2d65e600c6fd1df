import { routes } from '../../contract/wire/routes.ts';
import { removeUserSchema } from '../../contract/wire/user.ts';
import { type Host, lambda } from '../host.ts';
import { ownerChain } from '../http/chain.ts';
import { query } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { routeFunction } from '../route-function.ts';
import { eraseFound, personOf, userSubscriptions } from '../store/audience.ts';
import { auditStore, auditSubject, recorder } from '../store/audit.ts';
import { subscriptionStore } from '../store/subscriptions.ts';

export function createHandler(host: Host) {
  const { environment, clock, logger, dynamo, settings } = routeFunction(routes.removeUser, host);

  const users = userSubscriptions(dynamo, environment.SUBSCRIPTIONS_TABLE);
  const subscriptions = subscriptionStore(
    dynamo,
    { subscriptions: environment.SUBSCRIPTIONS_TABLE, usage: environment.USAGE_TABLE },
    clock,
    host.random,
  );
  const audit = auditStore(dynamo, environment.AUDIT_TABLE, clock, host.randomBytes);
  const record = recorder(audit, logger);

  return ownerChain(settings, async (event) => {
    const { project, signal } = event;
    const { endpoint, ...named } = query(event, removeUserSchema);
    const person = personOf(named, endpoint);
    const found = await users.endpointHashes(project, person, signal);
    return { person, found };
  }).handler(async ({ project, access, input: { person, found }, signal }) => {
    const { projectId, ref } = project;
    const subject = auditSubject(project, person);
    const recordCount = (count: number | undefined) =>
      record(access, { projectId, action: 'removeUser', count, subject }, signal);
    const erasing = eraseFound(subscriptions, ref, person.userId, found, signal);
    const removed = await erasing.catch(async (error) => {
      // Some may be erased.
      await recordCount(undefined);
      throw error;
    });
    await recordCount(removed);
    return respond(200, { removed });
  });
}

export const handler = createHandler(lambda);
