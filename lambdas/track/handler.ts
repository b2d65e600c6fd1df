import { limits } from '../../contract/limits.ts';
import { routes } from '../../contract/routes.ts';
import { eventSchema, tallySchema } from '../../contract/schemas/event.ts';
import { browserChain } from '../http/chain.ts';
import { jsonBody, queryParameters } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { routeFunction } from '../route-function.ts';
import { projectStore } from '../store/projects.ts';
import { tallyStore } from '../store/tallies.ts';
import { eventLog } from './event-log.ts';
import { track } from './track.ts';

const { environment, clock, dynamo, settings } = routeFunction(routes.track, ['TALLIES_TABLE']);

const tallies = tallyStore(dynamo, environment.TALLIES_TABLE);
const logged = eventLog(clock);

export const handler = browserChain({
  ...settings,
  projects: projectStore(dynamo, environment.PROJECTS_TABLE, clock),
}).handler(async (event) => {
  const { project, ids, signal } = event;
  // A browser sends text/plain without a preflight request.
  const mediaTypes = ['application/json', 'text/plain'];
  const { type } = jsonBody(event, eventSchema, limits.bodyBytes.track, mediaTypes);
  const tally = tallySchema.safeParse(queryParameters(event, ['tally']).tally).data;
  await track(tallies, project, ids.notificationId, tally, type, signal);
  event.logged = logged(type);
  return respond(200, { ok: true });
});
