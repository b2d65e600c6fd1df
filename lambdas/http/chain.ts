import type { Logger } from '@aws-lambda-powertools/logger';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { ServiceError } from '../../contract/wire/errors.ts';
import { type Project, rateLimitOf } from '../../contract/wire/project.ts';
import type { Access, Route, RouteOf } from '../../contract/wire/routes.ts';
import type { ProjectStore } from '../store/projects.ts';
import type { RateLimitStore } from '../store/rate-limits.ts';
import {
  authenticate,
  findProject,
  requireKey,
  requireOrigin,
  requireProject,
  requireRole,
} from './authenticate.ts';
import {
  countedAddress,
  networkOf,
  type OriginSecret,
  type PathIds,
  pathIds,
  readPathIds,
  type TimeLimit,
  throughProxy,
  timeLimit,
} from './request.ts';
import {
  asServiceError,
  cors,
  errorResponses,
  type HttpResponse,
  type Logged,
  type Middleware,
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
  /** A signal that aborts after some ms, 0 at least. */
  readonly abortAfter: (ms: number) => AbortSignal;
  readonly projects: Pick<ProjectStore<Found>, 'find' | 'findNewer'>;
  readonly rateLimits: RateLimitStore;
  /** Requests per minute where a project sets no limit. */
  readonly perMinute: number;
  readonly originSecret: OriginSecret;
}

/**
 * The chain of the routes that browsers call without credentials. Its order is security policy:
 * CORS headers come with every response, errors included; every request for a project is counted, also if the project
 * does not exist; and nothing of the body is parsed before that.
 */
export function browserChain<Found extends Project>(settings: ChainSettings<'browser', Found>) {
  const { route, logger, clock, abortAfter, projects, rateLimits, perMinute, originSecret } =
    settings;
  return chain(requestLog(logger, clock))
    .use(throughProxy(originSecret))
    .use(cors(route))
    .use(errorResponses())
    .use(timeLimit(clock, abortAfter))
    .use(pathIds())
    .use(findProject(projects.find))
    .use(rateLimit(route, perMinute, rateLimits))
    .use(requireProject<Found>())
    .use(route.checksOrigin ? requireOrigin() : []);
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
  const { route, logger, clock, abortAfter, projects, rateLimits, perMinute, originSecret } =
    settings;
  return chain(requestLog(logger, clock))
    .use(throughProxy(originSecret))
    .use(errorResponses())
    .use(timeLimit(clock, abortAfter))
    .use(pathIds())
    .use(authenticate(projects, clock))
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

/** Counts requests of callers who do not belong to the project that they name. No project has this id. */
const unproven = '-';

/** The facts about a request by which it is counted. */
interface CountedEvent<Found extends Project> extends TimeLimit {
  ids: PathIds;
  /** Absent if the caller does not belong to the project. */
  project?: Found;
  /** Present if the route needs a key and the caller has one. */
  access?: Access;
  /** Tells the keys of a project apart. */
  keyId?: string;
}

/** Reads what a request of a project's owner needs: it parses the request, and calls the database. */
type ReadInput<Found extends Project, Input> = (
  event: APIGatewayProxyEventV2 & Required<Omit<CountedEvent<Found>, 'keyId'>>,
) => Promise<Input>;

/**
 * Counts the request against its address, project, route and key. Only a caller that belongs to the
 * project gets its own limit. All others share the deployment's limit over all the projects
 * they name, so that invented ids do not cost a write each. Beyond it, each still costs the read of the project: only
 * that tells whether it is one of them.
 * @param perMinute requests per minute where the project sets no limit.
 * @param readInput runs at the same time, so that both together take one round to the database. The
 *   rest of the chain finds the result as `input`.
 */
export function rateLimit<Found extends Project, Input = undefined>(
  route: Route,
  perMinute: number,
  counter: RateLimitStore,
  readInput?: ReadInput<Found, Input>,
): Middleware<CountedEvent<Found> & { input: Input }> {
  return {
    before: async ({ event }) => {
      const { ids, project, access, keyId, signal } = event;
      // Without a valid id the request is refused later without any call.
      if (ids.projectId === undefined) return;
      const limit = rateLimitOf(project?.settings ?? {}, route.name, perMinute);
      const counted = {
        projectId: project === undefined ? unproven : ids.projectId,
        route: route.name,
        ...countedAddress(event.requestContext.http.sourceIp),
        keyId,
      };
      // Reads nothing for a caller that is known to be over its limit.
      if (limit !== null) expectWithin(limit, counter.refused(counted, limit));
      // Waits for both, so that nothing runs on after the response.
      const [count, input] = await Promise.allSettled([
        limit === null ? 0 : counter.count(counted, limit, signal),
        project && access && readInput?.({ ...event, project, access }),
      ]);
      // Over the limit, a caller gets 429, also if the input could not be read.
      if (count.status === 'rejected') throw count.reason;
      if (limit !== null) expectWithin(limit, count.value);
      if (input.status === 'rejected') throw input.reason;
      event.input = input.value as Input;
    },
  };
}

/** @param retryAfterSeconds 0 if the request is within the limit. */
function expectWithin(limit: number, retryAfterSeconds: number): void {
  if (retryAfterSeconds === 0) return;
  throw new ServiceError(
    'rate_limited',
    `More than ${limit} requests came from this address within a minute; wait for the next.`,
    { retryAfterSeconds },
  );
}
