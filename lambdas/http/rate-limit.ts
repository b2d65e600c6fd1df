import { ServiceError } from '../../contract/errors.ts';
import { limitOf, type Project } from '../../contract/project.ts';
import type { RouteName } from '../../contract/routes.ts';
import { countedAddress } from './client-address.ts';
import type { PathIds } from './path-ids.ts';
import type { Middleware } from './response.ts';
import type { TimeLimit } from './time-limit.ts';

/** Counts requests by address, project and route. */
export interface RequestCounter {
  /** @returns 0 if the request is within the limit, else the seconds until the next minute. */
  count(request: CountedRequest, limit: number, signal?: AbortSignal): Promise<number>;
  /** The same from what this function knows without a call; 0 if it knows nothing. */
  refused(request: CountedRequest): number;
}

interface CountedRequest {
  readonly projectId: string;
  readonly route: RouteName;
  readonly address: string;
}

/** Counts requests that name a project without belonging to it. No project has this id. */
const unproven = '-';

/**
 * Refuses an address that has used up its requests for projects that do not exist or are not its
 * own, before another project is read. If the project needs no read, {@link rateLimit} decides.
 */
export function refuseBeforeReading(
  route: RouteName,
  perMinute: number,
  counter: RequestCounter,
  projects: { remembers(projectId: string): boolean },
): Middleware<{ ids: PathIds }> {
  return {
    before: ({ event }) => {
      const { projectId } = event.ids;
      if (projectId !== undefined && projects.remembers(projectId)) return;
      const address = countedAddress(event.requestContext.http.sourceIp);
      expectWithin(perMinute, counter.refused({ projectId: unproven, route, address }));
    },
  };
}

/**
 * Counts the request against its address, project and route. Only a caller that belongs to the
 * project gets the limit of its plan. All others share the deployment's limit over all the projects
 * they name, so that invented ids do not cost a write each.
 * @param perMinute requests per minute where the plan sets no limit.
 */
export function rateLimit(
  route: RouteName,
  perMinute: number,
  counter: RequestCounter,
): Middleware<{ ids: PathIds; project?: Project } & TimeLimit> {
  return {
    before: async ({ event }) => {
      const { projectId } = event.ids;
      // Without a valid id the request is refused later without any call.
      if (projectId === undefined) return;
      const limit = limitOf(event.project?.plan.rateLimitPerMinute, perMinute);
      if (limit === null) return;
      const address = countedAddress(event.requestContext.http.sourceIp);
      const counted = { projectId: event.project ? projectId : unproven, route, address };
      expectWithin(limit, await counter.count(counted, limit, event.signal));
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
