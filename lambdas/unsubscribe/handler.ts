import { routes } from '../../contract/routes.ts';
import { unsubscribeSchema } from '../../contract/schemas/subscription.ts';
import { browserChain } from '../http/chain.ts';
import { query } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { routeFunction } from '../route-function.ts';
import { projectStore } from '../store/projects.ts';
import { subscriptionStore } from '../store/subscriptions.ts';

const { environment, clock, dynamo, settings } = routeFunction(routes.unsubscribe);

const subscriptions = subscriptionStore(
  dynamo,
  { subscriptions: environment.SUBSCRIPTIONS_TABLE, usage: environment.USAGE_TABLE },
  clock,
);

export const handler = browserChain({
  ...settings,
  projects: projectStore(dynamo, environment.PROJECTS_TABLE, clock),
}).handler(async (event) => {
  const { endpoint } = query(event, unsubscribeSchema);
  // Idempotent: an unknown endpoint also returns 200.
  await subscriptions.remove(event.project.ref, endpoint.href, event.signal);
  return respond(200, { ok: true });
});
