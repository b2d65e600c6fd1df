import type { Logger } from '@aws-lambda-powertools/logger';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Project } from '../../contract/wire/project.ts';
import type { Route, RouteOf } from '../../contract/wire/routes.ts';
import type { ProjectStore } from '../store/projects.ts';
import type { RateLimitStore } from '../store/rate-limits.ts';
import {
  authenticate,
  findProject,
  requireKey,
  requireProject,
  requireRole,
} from './authenticate.ts';
import { type ReadInput, rateLimit } from './rate-limit.ts';
import {
  networkOf,
  type OriginSecret,
  pathIds,
  readPathIds,
  throughProxy,
  timeLimit,
} from './request.ts';
import {
  asServiceError,
  cors,
  errorResponses,
  type HttpResponse,
  type Logged,
} from './response.ts';
import { logInvocation } from './service-logger.ts';

/**
 * Starts the chain of a function. middy's own time-out is switched off: it would answer 500 a few
 * milliseconds before Lambda's time-out. Lambda would count no error, no alarm would fire, and the
 * abandoned work would continue in the next invocation. Lambda's own time-out ends the environment
 * and counts in the metric `Errors`.
 */
export function chain(plugin?: middy.PluginObject) {
  return middy({ ...plugin, timeoutEarlyInMillis: 0 });
}

export interface ChainSettings<Caller extends Route['caller'], Found extends Project = Project> {
  readonly route: RouteOf<Caller>;
  readonly logger: Logger;
  readonly clock: () => Date;
  readonly projects: Pick<ProjectStore<Found>, 'find'>;
  readonly rateLimits: RateLimitStore;
  /** Requests per minute where a project's plan sets no limit. */
  readonly perMinute: number;
  readonly originSecret: OriginSecret;
}

/**
 * The chain of the routes that browsers call without credentials. Its order is security policy:
 * CORS headers come with every response, errors included; every request for a project is counted, also if the project
 * does not exist; and nothing of the body is parsed before that.
 */
export function browserChain<Found extends Project>(settings: ChainSettings<'browser', Found>) {
  const { route, logger, clock, projects, rateLimits, perMinute, originSecret } = settings;
  return chain(requestLog(logger, clock))
    .use(throughProxy(originSecret))
    .use(cors(route))
    .use(errorResponses())
    .use(timeLimit())
    .use(pathIds())
    .use(findProject(projects.find))
    .use(rateLimit(route, perMinute, rateLimits))
    .use(requireProject<Found>());
}

/**
 * The chain of the routes that need the secret key or a member key. Without the right key a request is counted against
 * its address over all projects, and then refused, the same for an unknown project and a wrong key. Such requests
 * never count against the right key: only reading the project tells whether a key is right.
 * @param readInput reads what the handler finds as `input`, while the request is counted: not for a role that does not
 *   include the route. It must not write: the request may turn out to be over the limit.
 */
export function ownerChain<Found extends Project, Input>(
  settings: ChainSettings<'owner', Found>,
  readInput: ReadInput<Found, Input>,
) {
  const { route, logger, clock, projects, rateLimits, perMinute, originSecret } = settings;
  return chain(requestLog(logger, clock))
    .use(throughProxy(originSecret))
    .use(errorResponses())
    .use(timeLimit())
    .use(pathIds())
    .use(authenticate(projects.find, clock))
    .use(
      rateLimit(route, perMinute, rateLimits, async (event: Parameters<typeof readInput>[0]) => {
        requireRole(route, event.access);
        return readInput(event);
      }),
    )
    .use(requireKey());
}

/**
 * Logs one line per request, unless a successful one needs none: outcome and duration, never a header, a
 * body or an address. It is a plugin and not a middleware: a preflight is answered early, which skips
 * every `after`.
 */
export function requestLog(logger: Logger, clock: () => Date): middy.PluginObject {
  // An environment of Lambda serves one request at a time, so one variable is enough.
  let startedAt: Date;
  return {
    // Optional only for middy's types: it passes the request.
    requestStart: (request?: middy.Request<APIGatewayProxyEventV2>) => {
      const { event, context } = request!;
      startedAt = clock();
      logInvocation(logger, context, event.requestContext.requestId);
    },
    requestEnd: ({
      event,
      response,
      error,
    }: middy.Request<APIGatewayProxyEventV2 & Logged, HttpResponse>) => {
      const { requestId, http } = event.requestContext;
      const line = {
        method: http.method,
        // Only a valid id: a caller may have put a secret key into the path by mistake.
        project_id: readPathIds(event).projectId,
        network: networkOf(http.sourceIp),
        status: response?.statusCode,
        ms: clock().getTime() - startedAt.getTime(),
        ...event.logged,
      };
      if (!error) return event.logged === null ? undefined : logger.info('request', line);
      const { code, cause } = asServiceError(error, requestId);
      if (cause instanceof Error) logger.error('request', { ...line, code, error: cause });
      else logger.info('request', { ...line, code });
    },
  };
}
