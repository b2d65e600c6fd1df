import { routes } from '../../contract/wire/routes.ts';
import { unsubscribeSchema } from '../../contract/wire/subscription.ts';
import { type Host, lambda } from '../host.ts';
import { browserChain } from '../http/chain.ts';
import { query } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { routeFunction } from '../route-function.ts';
import { subscriptionStore } from '../store/subscriptions.ts';

export function createHandler(host: Host) {
  const { environment, clock, dynamo, settings } = routeFunction(routes.unsubscribe, host);

  const subscriptions = subscriptionStore(
    dynamo,
    { subscriptions: environment.SUBSCRIPTIONS_TABLE, usage: environment.USAGE_TABLE },
    clock,
    host.random,
  );

  return browserChain(settings).handler(async (event) => {
    const { project, signal, requestContext } = event;
    const { endpoint } = query(event, unsubscribeSchema);
    // Idempotent: an unknown endpoint also returns 200.
    await subscriptions.unsubscribe(project, endpoint.href, requestContext.timeEpoch, signal);
    return respond(200, { ok: true });
  });
}

export const handler = createHandler(lambda);
