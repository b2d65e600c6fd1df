import { routes } from '../../contract/routes.ts';
import { userSchema } from '../../contract/schemas/user.ts';
import { ownerChain } from '../http/chain.ts';
import { query } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { routeFunction } from '../route-function.ts';
import { projectStore } from '../store/projects.ts';
import { userSubscriptions } from '../store/user-subscriptions.ts';

const { environment, clock, dynamo, settings } = routeFunction(routes.getUser, [
  'SUBSCRIPTIONS_TABLE',
]);

const users = userSubscriptions(dynamo, environment.SUBSCRIPTIONS_TABLE);

export const handler = ownerChain({
  ...settings,
  projects: projectStore(dynamo, environment.PROJECTS_TABLE, clock),
})
  .use(query(userSchema))
  .handler(async ({ project, input, signal }) => {
    const { userId } = input;
    const subscriptions = await users.count(project.projectId, userId, signal);
    return respond(200, { userId, subscriptions });
  });
