import { randomBytes } from 'node:crypto';
import { limits } from '../../contract/limits.ts';
import { pathOf, routes } from '../../contract/routes.ts';
import { type ParsedSendRequest, sendSchema } from '../../contract/schemas/notification.ts';
import { observer } from '../deliver/observer.ts';
import { shareDependencies, shareVariables } from '../deliver/share-dependencies.ts';
import { ownerChain } from '../http/chain.ts';
import { idempotencyKey, jsonBody, prefersAsync } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { countChecker } from '../results/count-checker.ts';
import { routeFunction } from '../route-function.ts';
import { signingProjectStore } from '../store/projects.ts';
import { sendStore } from '../store/sends.ts';
import { subscriberCount } from '../store/usage.ts';
import type { Audience } from './divide.ts';
import { shareInvoker } from './invoker.ts';
import { send } from './send.ts';
import type { SendDependencies } from './sending.ts';
import { usersOf } from './users-of.ts';
import { uuidV7 } from './uuid-v7.ts';

const { environment, clock, logger, dynamo, settings } = routeFunction(routes.send, [
  ...shareVariables,
  'NOTIFICATIONS_TABLE',
  'MONTHLY_SEND_CAP',
  'PUSHES_PER_SECOND',
  'DELIVER_FUNCTION',
  'PUBLIC_BASE_URL',
]);

const tables = {
  projects: environment.PROJECTS_TABLE,
  vapidKeys: environment.VAPID_KEYS_TABLE,
  usage: environment.USAGE_TABLE,
  notifications: environment.NOTIFICATIONS_TABLE,
  tallies: environment.TALLIES_TABLE,
};

const projects = signingProjectStore(dynamo, tables, clock);
const checker = countChecker(logger);
const countSubscribers = subscriberCount(dynamo, tables.usage);

const deps: SendDependencies = {
  ...shareDependencies(environment, dynamo, projects, clock, observer(logger, clock)),
  sends: sendStore(dynamo, tables),
  invoker: shareInvoker(dynamo, environment.DELIVER_FUNCTION, process.env.AWS_ENDPOINT_URL_LAMBDA),
  random: Math.random,
  newId: (time) => uuidV7(time, randomBytes),
  monthlyCap: environment.MONTHLY_SEND_CAP,
  pushesPerSecond: environment.PUSHES_PER_SECOND,
};

async function audienceOf(
  projectId: string,
  request: ParsedSendRequest,
  signal: AbortSignal,
): Promise<Audience> {
  const users = usersOf(request);
  if (users !== undefined) return users;
  const subscribers = await countSubscribers(projectId, signal);
  checker.usage(projectId, { subscribers });
  // With a wrong counter, which may be negative, everyone is still sent to.
  return { subscribers: Math.max(0, subscribers) };
}

export const handler = ownerChain({ ...settings, projects }, async (event) => {
  const request = jsonBody(event, sendSchema, limits.bodyBytes.send);
  return {
    request,
    idempotencyKey: idempotencyKey(event),
    audience: await audienceOf(event.project.projectId, request, event.signal),
  };
}).handler(async (event) => {
  const { project, input, requestContext } = event;
  const baseUrl = environment.PUBLIC_BASE_URL;
  const { requestId, timeEpoch } = requestContext;
  // The gateway's clock may be ahead.
  const startedAt = new Date(Math.min(timeEpoch, Date.now()));
  const respondAsync = prefersAsync(event);
  const call = { ...input, respondAsync, baseUrl, requestId, startedAt };
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
