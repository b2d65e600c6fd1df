import { limits } from '../../contract/wire/limits.ts';
import { routes } from '../../contract/wire/routes.ts';
import { subscribeSchema } from '../../contract/wire/subscription.ts';
import { type Host, lambda } from '../host.ts';
import { browserChain } from '../http/chain.ts';
import { jsonBody } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { routeFunction } from '../route-function.ts';
import { identityProjectStore } from '../store/projects.ts';
import { subscriptionStore } from '../store/subscriptions.ts';
import { subscribe } from './subscribe.ts';

export function createHandler(host: Host) {
  const { environment, clock, dynamo, settings } = routeFunction(routes.subscribe, host);

  const tables = {
    projects: environment.PROJECTS_TABLE,
    identityKeys: environment.IDENTITY_KEYS_TABLE,
    subscriptions: environment.SUBSCRIPTIONS_TABLE,
    usage: environment.USAGE_TABLE,
  };

  const subscriptions = subscriptionStore(dynamo, tables, clock, host.random);
  const projects = identityProjectStore(dynamo, tables, clock);
  const schema = subscribeSchema(environment.EXTRA_PUSH_ORIGINS);

  return browserChain({ ...settings, projects }).handler(async (event) => {
    const { project, signal } = event;
    const input = jsonBody(event, schema, limits.bodyBytes.subscribe);
    const cap = environment.SUBSCRIBER_CAP;
    const { timeEpoch: requestedAt } = event.requestContext;
    const request = { ...input, requestedAt };
    await subscribe({ subscriptions, projects, clock }, project, request, cap, signal);
    return respond(201, { ok: true });
  });
}

export const handler = createHandler(lambda);
