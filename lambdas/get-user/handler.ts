import { routes } from '../../contract/wire/routes.ts';
import { userSchema } from '../../contract/wire/user.ts';
import { type Host, lambda } from '../host.ts';
import { ownerChain } from '../http/chain.ts';
import { query } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { routeFunction } from '../route-function.ts';
import { personOf, userSubscriptions } from '../store/audience.ts';
import { describeUser } from './get-user.ts';

export function createHandler(host: Host) {
  const { environment, dynamo, settings } = routeFunction(routes.getUser, host);

  const users = userSubscriptions(dynamo, environment.SUBSCRIPTIONS_TABLE);

  return ownerChain(settings, async (event) => {
    const { endpoint, ...named } = query(event, userSchema);
    const person = personOf(named, endpoint);
    return describeUser(await users.list(event.project, person, event.signal));
  }).handler(async ({ input }) => respond(200, input));
}

export const handler = createHandler(lambda);
