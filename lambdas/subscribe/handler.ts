import { readEnvironment } from '../../contract/environment.ts';
import { limits } from '../../contract/limits.ts';
import { routes } from '../../contract/routes.ts';
import { subscribeSchema } from '../../contract/schemas/subscription.ts';
import { beforeTimeout } from '../http/before-timeout.ts';
import { browserChain } from '../http/chain.ts';
import { jsonBody } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { serviceLogger } from '../http/service-logger.ts';
import { documentClient } from '../store/dynamo.ts';
import { projectStore } from '../store/projects.ts';
import { rateLimitStore } from '../store/rate-limits.ts';
import { subscriptionStore } from '../store/subscriptions.ts';
import { subscribe } from './subscribe.ts';

const environment = readEnvironment(
  [
    'PROJECTS_TABLE',
    'SUBSCRIPTIONS_TABLE',
    'USAGE_TABLE',
    'RATE_LIMITS_TABLE',
    'SUBSCRIBER_CAP',
    'RATE_LIMIT_PER_MINUTE',
    'ORIGIN_SECRET_HASHES',
    'REQUIRE_ORIGIN_SECRET',
    'EXTRA_PUSH_ORIGINS',
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

const projects = projectStore(dynamo, environment.PROJECTS_TABLE, clock);

export const handler = browserChain({
  route: routes.subscribe,
  logger: serviceLogger('subscribe'),
  clock,
  projects,
  rateLimits: rateLimitStore(dynamo, environment.RATE_LIMITS_TABLE, clock),
  perMinute: environment.RATE_LIMIT_PER_MINUTE,
  originSecret: {
    hashes: environment.ORIGIN_SECRET_HASHES,
    isRequired: environment.REQUIRE_ORIGIN_SECRET,
  },
})
  .use(jsonBody(subscribeSchema(environment.EXTRA_PUSH_ORIGINS), limits.bodyBytes.subscribe))
  .handler(async ({ project, input, requestContext }, context) => {
    const cap = environment.SUBSCRIBER_CAP;
    const signal = beforeTimeout(requestContext, context);
    await subscribe({ subscriptions, projects }, project, input, cap, signal);
    return respond(201, { ok: true });
  });
