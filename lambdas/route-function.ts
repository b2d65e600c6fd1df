import { type EnvironmentName, readEnvironment } from '../contract/environment.ts';
import type { Route } from '../contract/routes.ts';
import { serviceLogger } from './http/service-logger.ts';
import { documentClient } from './store/dynamo.ts';
import { rateLimitStore } from './store/rate-limits.ts';

/** Environment variables that the function of every route reads. */
const ofEveryRoute = [
  'PROJECTS_TABLE',
  'RATE_LIMITS_TABLE',
  'RATE_LIMIT_PER_MINUTE',
  'ORIGIN_SECRET_HASHES',
  'REQUIRE_ORIGIN_SECRET',
] as const satisfies readonly EnvironmentName[];

/**
 * The clients of a route's function, and the settings of its chain except for the store of projects.
 * @param variables that this function reads besides the ones of every route.
 */
export function routeFunction<Called extends Route, const Name extends EnvironmentName>(
  route: Called,
  variables: readonly Name[],
) {
  const environment = readEnvironment([...ofEveryRoute, ...variables], process.env);
  const clock = () => new Date();
  const logger = serviceLogger(route.name);
  const dynamo = documentClient();
  const settings = {
    ...{ route, logger, clock },
    rateLimits: rateLimitStore(dynamo, environment.RATE_LIMITS_TABLE, clock),
    perMinute: environment.RATE_LIMIT_PER_MINUTE,
    originSecret: {
      hashes: environment.ORIGIN_SECRET_HASHES,
      isRequired: environment.REQUIRE_ORIGIN_SECRET,
    },
  };
  return { environment, clock, logger, dynamo, settings };
}
