import { projectQuerySchema } from '../../contract/wire/project-result.ts';
import { routes } from '../../contract/wire/routes.ts';
import { type Host, lambda } from '../host.ts';
import { ownerChain } from '../http/chain.ts';
import { query } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { countChecker } from '../results/count-checker.ts';
import { routeFunction } from '../route-function.ts';
import { projectUsage } from '../store/counters.ts';
import { subscriptionSample } from '../store/subscription-sample.ts';
import { getProject } from './get-project.ts';

export function createHandler(host: Host) {
  const { environment, clock, logger, dynamo, settings } = routeFunction(routes.getProject, host);

  const deps = {
    sample: subscriptionSample(dynamo, environment.SUBSCRIPTIONS_TABLE),
    usage: projectUsage(dynamo, environment.USAGE_TABLE),
    subscriberCap: environment.SUBSCRIBER_CAP,
    monthlySendCap: environment.MONTHLY_SEND_CAP,
    checker: countChecker(logger),
    rateLimitPerMinute: environment.RATE_LIMIT_PER_MINUTE,
    clock,
  };

  return ownerChain(settings, async (event) => {
    const { sample } = query(event, projectQuerySchema);
    const project = await getProject(deps, event.project, sample !== undefined, event.signal);
    return { ...project, access: event.access };
  }).handler(async ({ input }) => respond(200, input));
}

export const handler = createHandler(lambda);
