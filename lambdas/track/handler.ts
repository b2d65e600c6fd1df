import { readEnvironment } from '../../contract/environment.ts';
import { limits } from '../../contract/limits.ts';
import { routes } from '../../contract/routes.ts';
import { trackSchema } from '../../contract/schemas.ts';
import { browserChain } from '../http/chain.ts';
import { jsonBody } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { serviceLogger } from '../http/service-logger.ts';
import { documentClient } from '../store/dynamo.ts';
import { eventStore } from '../store/events.ts';
import { projectStore } from '../store/projects.ts';
import { rateLimitStore } from '../store/rate-limits.ts';
import { track } from './track.ts';

const environment = readEnvironment(
  ['PROJECTS_TABLE', 'NOTIFICATIONS_TABLE', 'RATE_LIMITS_TABLE', 'RATE_LIMIT_PER_MINUTE'],
  process.env,
);

const clock = () => new Date();
const dynamo = documentClient();
const events = eventStore(dynamo, environment.NOTIFICATIONS_TABLE);

export const handler = browserChain({
  route: routes.track,
  logger: serviceLogger('track'),
  clock,
  projects: projectStore(dynamo, environment.PROJECTS_TABLE, clock),
  rateLimits: rateLimitStore(dynamo, environment.RATE_LIMITS_TABLE, clock),
  perMinute: environment.RATE_LIMIT_PER_MINUTE,
})
  .use(jsonBody(trackSchema, limits.bodyBytes.track))
  .handler(async ({ project, ids, input }) => {
    await track(events, project, ids.notificationId, input.type);
    return respond(200, { ok: true });
  });
