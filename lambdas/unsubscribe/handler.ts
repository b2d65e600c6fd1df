import { readEnvironment } from '../../contract/environment.ts';
import { routes } from '../../contract/routes.ts';
import { unsubscribeSchema } from '../../contract/schemas.ts';
import { accessLog } from '../http/access-log.ts';
import { chain } from '../http/chain.ts';
import { cors } from '../http/cors.ts';
import { errorReply } from '../http/error-reply.ts';
import { findProject, requireProject } from '../http/find-project.ts';
import { rateLimit, refuseBeforeReading } from '../http/rate-limit.ts';
import { query } from '../http/read-input.ts';
import { reply } from '../http/reply.ts';
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
  ],
  process.env,
);

const clock = () => new Date();
const perMinute = environment.RATE_LIMIT_PER_MINUTE;
const dynamo = documentClient();
const projects = projectStore(dynamo, environment.PROJECTS_TABLE, clock);
const rateLimits = rateLimitStore(dynamo, environment.RATE_LIMITS_TABLE, clock);
const subscriptions = subscriptionStore(
  dynamo,
  { subscriptions: environment.SUBSCRIPTIONS_TABLE, usage: environment.USAGE_TABLE },
  clock,
);

export const handler = chain(accessLog(serviceLogger('unsubscribe'), clock))
  .use(cors(routes.unsubscribe))
  .use(errorReply())
  .use(refuseBeforeReading('unsubscribe', perMinute, rateLimits, projects))
  .use(findProject(projects.find))
  .use(rateLimit('unsubscribe', perMinute, rateLimits))
  .use(requireProject())
  .use(query(unsubscribeSchema))
  .handler(async ({ project, input }) => {
    // One that was not there is as absent as asked for.
    await subscriptions.remove(project.projectId, input.endpoint);
    return reply(200, { ok: true });
  });
