import type { routes } from '../contract/wire/routes.ts';
import type { Host } from './host.ts';
import { countChecker } from './results/count-checker.ts';
import { routeFunction } from './route-function.ts';
import { deliveriesOf } from './store/deliveries.ts';
import { notificationStore } from './store/notifications.ts';
import { sliceStore } from './store/slices.ts';

/** What the function of a route needs that reads notifications with their counts. */
export function notificationFunction<
  Called extends (typeof routes)['getNotification' | 'stopNotification' | 'listNotifications'],
>(route: Called, host: Host) {
  const { environment, clock, logger, dynamo, settings } = routeFunction(route, host);
  return {
    logger,
    dynamo,
    deps: {
      notifications: notificationStore(dynamo, environment.NOTIFICATIONS_TABLE, clock),
      deliveries: deliveriesOf(dynamo, environment.DELIVERIES_TABLE, host.sleep),
      slices: sliceStore(dynamo, environment.DELIVERIES_TABLE, host.sleep),
      clock,
    },
    checker: countChecker(logger),
    settings,
  };
}
