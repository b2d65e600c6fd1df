import { limits } from '../../contract/limits.ts';
import { routes } from '../../contract/routes.ts';
import { tallySchema, trackSchema } from '../../contract/schemas/event.ts';
import { browserChain } from '../http/chain.ts';
import { jsonBody, queryParameters } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { routeFunction } from '../route-function.ts';
import { projectStore } from '../store/projects.ts';
import { tallyStore } from '../store/tallies.ts';
import { logEvents } from './log-events.ts';
import { track } from './track.ts';

const { environment, clock, dynamo, settings } = routeFunction(routes.track, ['TALLIES_TABLE']);

const tallies = tallyStore(dynamo, environment.TALLIES_TABLE);

export const handler = browserChain({
  ...settings,
  projects: projectStore(dynamo, environment.PROJECTS_TABLE, clock),
})
  // A browser sends text/plain without a preflight request.
  .use(jsonBody(trackSchema, limits.bodyBytes.track, ['application/json', 'text/plain']))
  .use(logEvents(clock))
  .handler(async (event) => {
    const { project, ids, input, signal } = event;
    const tally = tallySchema.safeParse(queryParameters(event, ['tally']).tally).data;
    await track(tallies, project, ids.notificationId, tally, input.type, signal);
    return respond(200, { ok: true });
  });
