import { readEnvironment } from '../../contract/environment.ts';
import { limits } from '../../contract/limits.ts';
import { routes } from '../../contract/routes.ts';
import { trackSchema } from '../../contract/schemas.ts';
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
import { beaconStore } from '../store/events.ts';
import { projectStore } from '../store/projects.ts';
import { rateLimitStore } from '../store/rate-limits.ts';
import { track } from './track.ts';

const environment = readEnvironment(
  ['PROJECTS_TABLE', 'NOTIFICATIONS_TABLE', 'RATE_LIMITS_TABLE', 'RATE_LIMIT_PER_MINUTE'],
  process.env,
);

const clock = () => new Date();
const perMinute = environment.RATE_LIMIT_PER_MINUTE;
const dynamo = documentClient();
const projects = projectStore(dynamo, environment.PROJECTS_TABLE, clock);
const rateLimits = rateLimitStore(dynamo, environment.RATE_LIMITS_TABLE, clock);
const beacons = beaconStore(dynamo, environment.NOTIFICATIONS_TABLE);

export const handler = chain(accessLog(serviceLogger('track'), clock))
  .use(cors(routes.track))
  .use(errorReply())
  .use(refuseBeforeReading('track', perMinute, rateLimits, projects))
  .use(findProject(projects.find))
  .use(rateLimit('track', perMinute, rateLimits))
  .use(requireProject())
  .use(jsonBody(trackSchema, limits.bodyBytes.track))
  .handler(async ({ project, input, pathParameters }) => {
    await track(beacons, project, pathParameters?.notificationId, input.type);
    return reply(200, { ok: true });
  });
