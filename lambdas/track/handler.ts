import { ServiceError } from '../../contract/wire/errors.ts';
import { eventCounterSchema, eventSchema } from '../../contract/wire/event.ts';
import { limits } from '../../contract/wire/limits.ts';
import { routes } from '../../contract/wire/routes.ts';
import { type Host, lambda } from '../host.ts';
import { browserChain } from '../http/chain.ts';
import { jsonBody, queryParameters } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { eventLog } from '../http/service-logger.ts';
import { routeFunction } from '../route-function.ts';
import { eventCounterStore } from '../store/notifications.ts';

export function createHandler(host: Host) {
  const { environment, clock, dynamo, settings } = routeFunction(routes.track, host);

  const counters = eventCounterStore(dynamo, environment.DELIVERIES_TABLE);
  const logged = eventLog(clock);

  return browserChain(settings).handler(async (event) => {
    const { project, ids, signal } = event;
    // A browser sends text/plain without a preflight request.
    const mediaTypes = ['application/json', 'text/plain'];
    const { type } = jsonBody(event, eventSchema, limits.bodyBytes.track, mediaTypes);
    const counter = eventCounterSchema.safeParse(queryParameters(event, ['tally']).tally).data;
    // Messages of before may still be shown.
    if (!project.settings.events) return respond(200, { ok: true });
    const { notificationId } = ids;
    const isCounted =
      notificationId !== undefined &&
      counter !== undefined &&
      (await counters.count(project.ref, notificationId, counter, type, signal));
    if (!isCounted) {
      throw new ServiceError(
        'notification_not_found',
        'This project has no notification with this id.',
      );
    }
    event.logged = logged(type);
    return respond(200, { ok: true });
  });
}

export const handler = createHandler(lambda);
