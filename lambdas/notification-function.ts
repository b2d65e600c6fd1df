import type { Route } from '../contract/routes.ts';
import { countChecker } from './results/count-checker.ts';
import { routeFunction } from './route-function.ts';
import { notificationStore } from './store/notifications.ts';
import { projectStore } from './store/projects.ts';
import { tallyStore } from './store/tallies.ts';

/** What the function of a route needs that reads notifications with their counts. */
export function notificationFunction<Called extends Route>(route: Called) {
  const { environment, clock, logger, dynamo, settings } = routeFunction(route, [
    'NOTIFICATIONS_TABLE',
    'TALLIES_TABLE',
  ]);
  return {
    deps: {
      notifications: notificationStore(dynamo, environment.NOTIFICATIONS_TABLE),
      tallies: tallyStore(dynamo, environment.TALLIES_TABLE),
      clock,
    },
    checker: countChecker(logger),
    settings: { ...settings, projects: projectStore(dynamo, environment.PROJECTS_TABLE, clock) },
  };
}
