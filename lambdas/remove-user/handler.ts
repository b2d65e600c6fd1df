import { routes } from '../../contract/wire/routes.ts';
import { removeUserSchema } from '../../contract/wire/user.ts';
import { type Host, lambda } from '../host.ts';
import { ownerChain } from '../http/chain.ts';
import { query } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { routeFunction } from '../route-function.ts';
import { eraseFound, personOf, userSubscriptions } from '../store/audience.ts';
import { subscriptionStore } from '../store/subscriptions.ts';

export function createHandler(host: Host) {
  const { environment, clock, dynamo, settings } = routeFunction(routes.removeUser, host);

  const users = userSubscriptions(dynamo, environment.SUBSCRIPTIONS_TABLE);
  const subscriptions = subscriptionStore(
    dynamo,
    { subscriptions: environment.SUBSCRIPTIONS_TABLE, usage: environment.USAGE_TABLE },
    clock,
    host.random,
  );

  return ownerChain(settings, async (event) => {
    const { project, signal } = event;
    const { endpoint, ...named } = query(event, removeUserSchema);
    const person = personOf(named, endpoint);
    const found = await users.endpointHashes(project, person, signal);
    return { userId: person.userId, found };
  }).handler(async ({ project: { ref }, input: { userId, found }, signal }) => {
    const removed = await eraseFound(subscriptions, ref, userId, found, signal);
    return respond(200, { removed });
  });
}

export const handler = createHandler(lambda);
