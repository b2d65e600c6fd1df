import { readEnvironment } from '../../contract/environment.ts';
import { limits } from '../../contract/limits.ts';
import { routes } from '../../contract/routes.ts';
import { subscribeSchema } from '../../contract/schemas.ts';
import { accessLog } from '../http/access-log.ts';
import { chain } from '../http/chain.ts';
import { cors } from '../http/cors.ts';
import { errorReply } from '../http/error-reply.ts';
import { findProject, requireProject } from '../http/find-project.ts';
import { rateLimit, refuseBeforeReading } from '../http/rate-limit.ts';
import { jsonBody } from '../http/read-input.ts';
import { reply } from '../http/reply.ts';
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
    'EXTRA_PUSH_ORIGINS',
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

export const handler = chain(accessLog(serviceLogger('subscribe'), clock))
  .use(cors(routes.subscribe))
  .use(errorReply())
  .use(refuseBeforeReading('subscribe', perMinute, rateLimits, projects))
  .use(findProject(projects.find))
  .use(rateLimit('subscribe', perMinute, rateLimits))
  .use(requireProject())
  .use(jsonBody(subscribeSchema(environment.EXTRA_PUSH_ORIGINS), limits.bodyBytes.subscribe))
  .handler(async ({ project, input }) => {
    await subscribe(subscriptions, project, input, environment.SUBSCRIBER_CAP);
    return reply(201, { ok: true });
  });
