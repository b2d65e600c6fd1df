import { readEnvironment } from '../contract/infrastructure/environment.ts';
import {
  type Route,
  type RouteName,
  type RouteVariable,
  type VariableOf,
  variablesOf,
} from '../contract/wire/routes.ts';
import type { Host } from './host.ts';
import { browserConflictRetries } from './store/dynamo.ts';
import { projectStore } from './store/projects.ts';
import { rateLimitStore } from './store/rate-limits.ts';

/** The clients of a route's function, and the settings of its chain. */
export function routeFunction<Name extends RouteName, Called extends Route>(
  route: Called & { readonly name: Name },
  host: Host,
) {
  const environment = readEnvironment<VariableOf<Name> | RouteVariable>(
    variablesOf(route.name),
    host.variables,
  );
  const clock = () => new Date(host.wallClock());
  const logger = host.logger(route.name);
  const retries = route.caller === 'browser' ? browserConflictRetries : undefined;
  const dynamo = host.dynamo(retries);
  const settings = {
    route,
    logger,
    clock,
    abortAfter: host.abortAfter,
    projects: projectStore(dynamo, environment.PROJECTS_TABLE, clock),
    rateLimits: rateLimitStore(dynamo, environment.RATE_LIMITS_TABLE, clock, host),
    perMinute: environment.RATE_LIMIT_PER_MINUTE,
    originSecret: {
      hashes: environment.ORIGIN_SECRET_HASHES,
      isRequired: environment.REQUIRE_ORIGIN_SECRET,
    },
  };
  return { environment, clock, logger, dynamo, settings };
}
