import { readEnvironment } from '../../contract/environment.ts';
import { routes } from '../../contract/routes.ts';
import { unsubscribeSchema } from '../../contract/schemas/subscription.ts';
import { beforeTimeout } from '../http/before-timeout.ts';
import { browserChain } from '../http/chain.ts';
import { query } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { serviceLogger } from '../http/service-logger.ts';
import { documentClient } from '../store/dynamo.ts';
import { projectStore } from '../store/projects.ts';
import { rateLimitStore } from '../store/rate-limits.ts';
import { subscriptionStore } from '../store/subscriptions.ts';

const environment = readEnvironment(
  [
    'PROJECTS_TABLE',
    'SUBSCRIPTIONS_TABLE',
    'USAGE_TABLE',
    'RATE_LIMITS_TABLE',
    'RATE_LIMIT_PER_MINUTE',
    'ORIGIN_SECRET_HASHES',
    'REQUIRE_ORIGIN_SECRET',
  ],
  process.env,
);

const clock = () => new Date();
const dynamo = documentClient();
const subscriptions = subscriptionStore(
  dynamo,
  { subscriptions: environment.SUBSCRIPTIONS_TABLE, usage: environment.USAGE_TABLE },
  clock,
);

export const handler = browserChain({
  route: routes.unsubscribe,
  logger: serviceLogger('unsubscribe'),
  clock,
  projects: projectStore(dynamo, environment.PROJECTS_TABLE, clock),
  rateLimits: rateLimitStore(dynamo, environment.RATE_LIMITS_TABLE, clock),
  perMinute: environment.RATE_LIMIT_PER_MINUTE,
  originSecret: {
    hashes: environment.ORIGIN_SECRET_HASHES,
    isRequired: environment.REQUIRE_ORIGIN_SECRET,
  },
})
  .use(query(unsubscribeSchema))
  .handler(async ({ project, input, requestContext }, context) => {
    const signal = beforeTimeout(requestContext, context);
    // Idempotent: an unknown endpoint also returns 200.
    await subscriptions.remove(project.projectId, input.endpoint.href, signal);
    return respond(200, { ok: true });
  });
