import { pathOf } from '../../contract/text/addresses.ts';
import { limits } from '../../contract/wire/limits.ts';
import { sendSchema } from '../../contract/wire/notification.ts';
import { routes } from '../../contract/wire/routes.ts';
import { SteadyClock } from '../deliver/deadlines.ts';
import { sliceDependencies } from '../deliver/dependencies.ts';
import { observer } from '../deliver/observer.ts';
import { type Host, lambda } from '../host.ts';
import { ownerChain } from '../http/chain.ts';
import { idempotencyKey, jsonBody, prefersAsync } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { countChecker } from '../results/count-checker.ts';
import { routeFunction } from '../route-function.ts';
import { sumOf, usedParts, utcMonth } from '../store/counters.ts';
import { keyedHash } from '../store/items.ts';
import { notificationStore } from '../store/notifications.ts';
import { signingProjectStore } from '../store/projects.ts';
import { sendStore } from '../store/sends.ts';
import { sliceStarter } from './invoker.ts';
import { send } from './send.ts';
import { keyHashOf, type SendDependencies, usersOf, uuidV7 } from './sending.ts';

export function createHandler(host: Host) {
  const { environment, logger, dynamo, settings } = routeFunction(routes.send, host);
  const steadyClock = new SteadyClock(host.wallClock, host.ticks);
  const clock = steadyClock.now;

  const tables = {
    projects: environment.PROJECTS_TABLE,
    vapidKeys: environment.VAPID_KEYS_TABLE,
    usage: environment.USAGE_TABLE,
    notifications: environment.NOTIFICATIONS_TABLE,
    deliveries: environment.DELIVERIES_TABLE,
  };

  const projects = signingProjectStore(dynamo, tables, clock);
  const checker = countChecker(logger);
  const readUsed = usedParts(dynamo, tables.usage);
  const sends = sendStore(dynamo, tables);

  const deps: SendDependencies = {
    ...sliceDependencies(host, environment, dynamo, projects, clock, observer(logger, clock)),
    sends,
    notifications: notificationStore(dynamo, tables.notifications, clock),
    starter: sliceStarter(
      dynamo,
      environment.DELIVER_FUNCTION,
      // The variables with which AWS's tools set another endpoint.
      host.variables.AWS_ENDPOINT_URL_LAMBDA ?? host.variables.AWS_ENDPOINT_URL,
      host.post,
    ),
    newId: (time) => uuidV7(time, host.randomBytes),
    monthlyCap: environment.MONTHLY_SEND_CAP,
    notificationDays: environment.NOTIFICATION_DAYS,
    pushesPerSecond: environment.PUSHES_PER_SECOND,
    extraOrigins: environment.EXTRA_PUSH_ORIGINS,
  };

  const chain = ownerChain({ ...settings, projects }, async (event) => {
    const { project, signal } = event;
    const request = jsonBody(event, sendSchema, limits.bodyBytes.send);
    const given = idempotencyKey(event);
    // Only this hash is stored: a key that is easy to guess cannot be found from it.
    const key = given && keyedHash(project, 'Idempotency-Key', given).toString('hex');
    const sentAt = clock();
    const findEarlier = async () =>
      key === undefined ? undefined : sends.earlier(project.ref, keyHashOf(key), sentAt, signal);
    const users = usersOf(request);
    if (users !== undefined) {
      // A paused project refuses what is no repetition. Otherwise `begin` finds out.
      const earlier = project.pausedAt === undefined ? undefined : await findEarlier();
      return { request, audience: users, sentAt, idempotencyKey: key, earlier };
    }
    // Both are read before the audience: if the cap is reached or the request is a repetition, nobody is read.
    const [used, earlier] = await Promise.all([
      readUsed(project.ref, utcMonth(sentAt), signal),
      findEarlier(),
    ]);
    const subscribers = sumOf(used.subscribers);
    checker.usage(project.projectId, { subscribers });
    // If the counter is wrong, even negative, everyone is still sent to.
    const audience = { subscribers: Math.max(0, subscribers) };
    return { request, audience, sentAt, sent: used.sends, idempotencyKey: key, earlier };
  }).handler(async (event) => {
    const { project, access, input, requestContext } = event;
    const baseUrl = environment.PUBLIC_BASE_URL;
    const { requestId, timeEpoch } = requestContext;
    // The gateway's clock may be ahead.
    const startedAt = new Date(Math.min(timeEpoch, host.wallClock()));
    const respondAsync = prefersAsync(event);
    const sentBy = access.role === 'owner' ? undefined : access.name;
    const call = { ...input, sentBy, respondAsync, baseUrl, requestId, startedAt };
    const outcome = await send(deps, project, call);
    const { projectId } = project;
    const { messageBytes } = outcome;
    if (outcome.kind === 'sent') {
      checker.notification(projectId, outcome.result.id, outcome.result);
      return respond(201, { ...outcome.result, messageBytes });
    }
    const { id, status } = outcome;
    return respond(
      202,
      { id, status, messageBytes },
      {
        Location: baseUrl + pathOf(routes.getNotification, { projectId, notificationId: id }),
        'Preference-Applied': 'respond-async',
      },
    );
  });

  return (...invocation: Parameters<typeof chain>) => {
    // First: a frozen environment's ticks stand still, so what its stores remember would seem fresh.
    steadyClock.start();
    return chain(...invocation);
  };
}

export const handler = createHandler(lambda);
