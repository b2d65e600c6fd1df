import { readEnvironment } from '../../contract/environment.ts';
import { userSchema } from '../../contract/schemas/user.ts';
import { beforeTimeout } from '../http/before-timeout.ts';
import { ownerChain } from '../http/chain.ts';
import { query } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { serviceLogger } from '../http/service-logger.ts';
import { documentClient } from '../store/dynamo.ts';
import { projectStore } from '../store/projects.ts';
import { rateLimitStore } from '../store/rate-limits.ts';
import { subscriptionStore } from '../store/subscriptions.ts';
import { userSubscriptions } from '../store/user-subscriptions.ts';

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
const users = userSubscriptions(dynamo, environment.SUBSCRIPTIONS_TABLE);
const subscriptions = subscriptionStore(
  dynamo,
  { subscriptions: environment.SUBSCRIPTIONS_TABLE, usage: environment.USAGE_TABLE },
  clock,
);

export const handler = ownerChain({
  action: 'removeUser',
  logger: serviceLogger('removeUser'),
  clock,
  projects: projectStore(dynamo, environment.PROJECTS_TABLE, clock),
  rateLimits: rateLimitStore(dynamo, environment.RATE_LIMITS_TABLE, clock),
  perMinute: environment.RATE_LIMIT_PER_MINUTE,
  originSecret: {
    hashes: environment.ORIGIN_SECRET_HASHES,
    isRequired: environment.REQUIRE_ORIGIN_SECRET,
  },
})
  .use(query(userSchema))
  .handler(async ({ project, input, requestContext }, context) => {
    const { userId } = input;
    const signal = beforeTimeout(requestContext, context);
    const removed = await users.remove(subscriptions, project.projectId, userId, signal);
    return respond(200, { removed });
  });
