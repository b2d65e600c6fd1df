import { limits } from '../../contract/limits.ts';
import { routes } from '../../contract/routes.ts';
import { subscribeSchema } from '../../contract/schemas/subscription.ts';
import { browserChain } from '../http/chain.ts';
import { jsonBody } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { routeFunction } from '../route-function.ts';
import { projectStore } from '../store/projects.ts';
import { subscriptionStore } from '../store/subscriptions.ts';
import { subscribe } from './subscribe.ts';

const { environment, clock, dynamo, settings } = routeFunction(routes.subscribe, [
  'SUBSCRIPTIONS_TABLE',
  'USAGE_TABLE',
  'SUBSCRIBER_CAP',
  'EXTRA_PUSH_ORIGINS',
]);

const subscriptions = subscriptionStore(
  dynamo,
  { subscriptions: environment.SUBSCRIPTIONS_TABLE, usage: environment.USAGE_TABLE },
  clock,
);

const projects = projectStore(dynamo, environment.PROJECTS_TABLE, clock);

export const handler = browserChain({
  ...settings,
  projects,
})
  .use(jsonBody(subscribeSchema(environment.EXTRA_PUSH_ORIGINS), limits.bodyBytes.subscribe))
  .handler(async ({ project, input, signal }) => {
    const cap = environment.SUBSCRIBER_CAP;
    await subscribe({ subscriptions, projects }, project, input, cap, signal);
    return respond(201, { ok: true });
  });
