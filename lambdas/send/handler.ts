import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { readEnvironment } from '../../contract/environment.ts';
import { limits } from '../../contract/limits.ts';
import { metricNamespace } from '../../contract/metrics.ts';
import { sendSchema } from '../../contract/schemas.ts';
import { accessLog } from '../http/access-log.ts';
import { authenticate, requireKey } from '../http/authenticate.ts';
import { chain } from '../http/chain.ts';
import { errorResponses } from '../http/error-responses.ts';
import { pathIds } from '../http/path-ids.ts';
import { rateLimit, refuseBeforeReading } from '../http/rate-limit.ts';
import { idempotencyKey, jsonBody } from '../http/read-input.ts';
import { respond } from '../http/response.ts';
import { serviceLogger } from '../http/service-logger.ts';
import { vapidSigner } from '../push/crypto/vapid.ts';
import { delivery } from '../push/delivery/deliver-chunk.ts';
import { inFlight } from '../push/delivery/limiter.ts';
import { publicLookup } from '../push/transport/public-lookup.ts';
import { pushTransport } from '../push/transport/transport.ts';
import { audienceStore } from '../store/audience.ts';
import { documentClient } from '../store/dynamo.ts';
import { signingProjectStore } from '../store/projects.ts';
import { rateLimitStore } from '../store/rate-limits.ts';
import { sendStore } from '../store/sends.ts';
import { observation } from './observation.ts';
import { type SendParts, send } from './send.ts';

const environment = readEnvironment(
  [
    'PROJECTS_TABLE',
    'VAPID_KEYS_TABLE',
    'SUBSCRIPTIONS_TABLE',
    'USAGE_TABLE',
    'NOTIFICATIONS_TABLE',
    'RATE_LIMITS_TABLE',
    'MONTHLY_SEND_CAP',
    'RATE_LIMIT_PER_MINUTE',
    'VAPID_SUBJECT',
    'EXTRA_PUSH_ORIGINS',
    'PREFER_IPV6',
  ],
  process.env,
);

const clock = () => new Date();
const perMinute = environment.RATE_LIMIT_PER_MINUTE;
const abortAfter = (ms: number) => AbortSignal.timeout(ms);
const logger = serviceLogger('send');
// The stack sets the service's name, so that stages have separate metrics.
const metrics = new Metrics({ namespace: metricNamespace });

const dynamo = documentClient();
const rateLimits = rateLimitStore(dynamo, environment.RATE_LIMITS_TABLE, clock);
const tables = {
  projects: environment.PROJECTS_TABLE,
  vapidKeys: environment.VAPID_KEYS_TABLE,
  subscriptions: environment.SUBSCRIPTIONS_TABLE,
  usage: environment.USAGE_TABLE,
  notifications: environment.NOTIFICATIONS_TABLE,
};
const projects = signingProjectStore(dynamo, tables, clock);

const parts: SendParts = {
  sends: sendStore(dynamo, tables),
  audiences: audienceStore(dynamo, tables),
  deliver: delivery({
    transport: pushTransport({
      limit: inFlight.overall,
      lookup: publicLookup({
        trustedOrigins: environment.EXTRA_PUSH_ORIGINS,
        preferIpv6: environment.PREFER_IPV6,
      }),
    }),
    sign: vapidSigner(environment.VAPID_SUBJECT, clock),
    clock,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    random: Math.random,
    extraOrigins: environment.EXTRA_PUSH_ORIGINS,
    inFlight,
    ttl: limits.messageTtl,
  }),
  clock,
  abortAfter,
  newId: randomUUID,
  monthlyCap: environment.MONTHLY_SEND_CAP,
  observe: observation(logger, metrics),
};

export const handler = chain(accessLog(logger, clock))
  .use(errorResponses())
  .use(pathIds())
  .use(refuseBeforeReading('send', perMinute, rateLimits, projects))
  .use(authenticate(projects.find, clock))
  .use(rateLimit('send', perMinute, rateLimits))
  .use(requireKey())
  .use(jsonBody(sendSchema, limits.bodyBytes.send))
  .use(idempotencyKey())
  .handler(async ({ project, input: request, idempotencyKey, headers, requestContext }) => {
    const baseUrl = `${headers['x-forwarded-proto'] ?? 'https'}://${headers.host}`;
    const { requestId, timeEpoch } = requestContext;
    // The gateway's clock may be ahead.
    const startedAt = new Date(Math.min(timeEpoch, Date.now()));
    const call = { request, idempotencyKey, baseUrl, requestId, startedAt };
    return respond(201, await send(parts, project, call));
  });
