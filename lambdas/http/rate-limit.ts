import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { ServiceError } from '../../contract/wire/errors.ts';
import { type Project, rateLimitOf } from '../../contract/wire/project.ts';
import type { Access, Route } from '../../contract/wire/routes.ts';
import type { RateLimitStore } from '../store/rate-limits.ts';
import { mayCall } from './authenticate.ts';
import { countedAddress, type PathIds, type TimeLimit } from './request.ts';
import type { Middleware } from './response.ts';

/** Counts requests of callers who do not belong to the project that they name. No project has this id. */
const unproven = '-';

/** Counts requests of a project's members whose role does not include the route: they take nothing from the others. */
const refusedOf = (projectId: string) => `-${projectId}`;

/** The facts about a request by which it is counted. */
export interface CountedEvent<Found extends Project> extends TimeLimit {
  ids: PathIds;
  /** Absent if the caller does not belong to the project. */
  project?: Found;
  /** Present if the route needs a key and the caller has one. */
  access?: Access;
}

/** Reads what a request of a project's owner needs: it parses the request, and calls the database. */
export type ReadInput<Found extends Project, Input> = (
  event: APIGatewayProxyEventV2 & Required<CountedEvent<Found>>,
) => Promise<Input>;

/**
 * Counts the request against its address, project and route. Only a caller that belongs to the
 * project gets the limit of its plan. All others share the deployment's limit over all the projects
 * they name, so that invented ids do not cost a write each. Beyond it, each still costs the read of the project: only
 * that tells whether it is one of them.
 * @param perMinute requests per minute where the plan sets no limit.
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
      const { ids, project, access, signal } = event;
      // Without a valid id the request is refused later without any call.
      if (ids.projectId === undefined) return;
      const limit = rateLimitOf(project?.plan ?? {}, route.name, perMinute);
      const counted = {
        projectId: bucketOf(ids.projectId, project !== undefined, route, access),
        route: route.name,
        address: countedAddress(event.requestContext.http.sourceIp),
      };
      // Reads nothing for a caller that is known to be over its limit.
      if (limit !== null) expectWithin(limit, counter.refused(counted));
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

function bucketOf(
  projectId: string,
  belongsToIt: boolean,
  route: Route,
  access: Access | undefined,
): string {
  if (!belongsToIt) return unproven;
  return access === undefined || mayCall(route, access) ? projectId : refusedOf(projectId);
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
