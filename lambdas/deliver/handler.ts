import type { Context } from 'aws-lambda';
import { sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { readEnvironment } from '../../contract/infrastructure/environment.ts';
import { sliceSchema } from '../../contract/infrastructure/slice.ts';
import { variablesOf } from '../../contract/wire/routes.ts';
import { type Host, lambda } from '../host.ts';
import { logInvocation } from '../http/service-logger.ts';
import { signingProjectStore } from '../store/projects.ts';
import { SteadyClock } from './deadlines.ts';
import { deliver } from './deliver.ts';
import { sliceDependencies } from './dependencies.ts';
import { observer } from './observer.ts';

/** Delivers one slice of a notification's audience: see {@link deliver}. Only send invokes it. */
export function createHandler(host: Host) {
  const environment = readEnvironment(variablesOf('deliver'), host.variables);

  const steadyClock = new SteadyClock(host.wallClock, host.ticks);
  const clock = steadyClock.now;
  const logger = host.logger('deliver');
  const dynamo = host.dynamo();
  const projects = signingProjectStore(
    dynamo,
    { projects: environment.PROJECTS_TABLE, vapidKeys: environment.VAPID_KEYS_TABLE },
    clock,
  );
  const deps = sliceDependencies(
    host,
    environment,
    dynamo,
    projects,
    clock,
    observer(logger, clock),
  );

  return async (event: unknown, context: Context): Promise<void> => {
    steadyClock.start();
    const slice = sliceSchema.parse(event);
    logInvocation(logger, context, slice.requestId);
    const endsAt =
      clock().getTime() + context.getRemainingTimeInMillis() - sliceTimeline.lastWritesMs;
    // Lambda's own id is the same for each attempt of an event.
    const by = Buffer.from(host.randomBytes(16)).toString('hex');
    await deliver(deps, slice, by, endsAt);
  };
}

export const handler = createHandler(lambda);
