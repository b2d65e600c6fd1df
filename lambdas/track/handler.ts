import { readEnvironment } from '../../contract/environment.ts';
import { limits } from '../../contract/limits.ts';
import { routes } from '../../contract/routes.ts';
import { type EventType, tallySchema, trackSchema } from '../../contract/schemas/event.ts';
import { beforeTimeout } from '../http/before-timeout.ts';
import { browserChain } from '../http/chain.ts';
import { jsonBody, queryParameters } from '../http/read-input.ts';
import type { Logged } from '../http/request-log.ts';
import { type Middleware, respond } from '../http/response.ts';
import { serviceLogger } from '../http/service-logger.ts';
import { documentClient } from '../store/dynamo.ts';
import { projectStore } from '../store/projects.ts';
import { rateLimitStore } from '../store/rate-limits.ts';
import { tallyStore } from '../store/tallies.ts';
import { track } from './track.ts';

const environment = readEnvironment(
  [
    'PROJECTS_TABLE',
    'TALLIES_TABLE',
    'RATE_LIMITS_TABLE',
    'RATE_LIMIT_PER_MINUTE',
    'ORIGIN_SECRET_HASHES',
    'REQUIRE_ORIGIN_SECRET',
  ],
  process.env,
);

const clock = () => new Date();
const dynamo = documentClient();
const tallies = tallyStore(dynamo, environment.TALLIES_TABLE);

export const handler = browserChain({
  route: routes.track,
  logger: serviceLogger('track'),
  clock,
  projects: projectStore(dynamo, environment.PROJECTS_TABLE, clock),
  rateLimits: rateLimitStore(dynamo, environment.RATE_LIMITS_TABLE, clock),
  perMinute: environment.RATE_LIMIT_PER_MINUTE,
  originSecret: {
    hashes: environment.ORIGIN_SECRET_HASHES,
    isRequired: environment.REQUIRE_ORIGIN_SECRET,
  },
})
  // A browser sends text/plain without a preflight request.
  .use(jsonBody(trackSchema, limits.bodyBytes.track, ['application/json', 'text/plain']))
  .use(logEventType())
  .handler(async (event, context) => {
    const { project, ids, input, requestContext } = event;
    const signal = beforeTimeout(requestContext, context);
    const tally = tallySchema.safeParse(queryParameters(event, ['tally']).tally).data;
    await track(tallies, project, ids.notificationId, tally, input.type, signal);
    return respond(200, { ok: true });
  });

/** Adds the event's type to the log line of its request, in which CloudWatch counts it. */
function logEventType(): Middleware<{ input: { type: EventType } } & Logged> {
  return {
    before: ({ event }) => {
      event.logged = { event: event.input.type };
    },
  };
}
