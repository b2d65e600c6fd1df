import { routes } from '../../contract/routes.ts';
import { userSchema } from '../../contract/schemas/user.ts';
import { ownerChain } from '../http/chain.ts';
import { query } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { routeFunction } from '../route-function.ts';
import { projectStore } from '../store/projects.ts';
import { userSubscriptions } from '../store/user-subscriptions.ts';
import { describeUser } from './get-user.ts';

const { environment, clock, dynamo, settings } = routeFunction(routes.getUser);

const users = userSubscriptions(dynamo, environment.SUBSCRIPTIONS_TABLE);

const projects = projectStore(dynamo, environment.PROJECTS_TABLE, clock);

export const handler = ownerChain({ ...settings, projects }, async (event) => {
  const { userId } = query(event, userSchema);
  return describeUser(userId, await users.list(event.project.ref, userId, event.signal));
}).handler(async ({ input }) => respond(200, input));
