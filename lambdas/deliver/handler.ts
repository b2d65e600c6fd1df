import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';
import { sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { readEnvironment } from '../../contract/infrastructure/environment.ts';
import { sliceSchema } from '../../contract/infrastructure/slice.ts';
import { variablesOf } from '../../contract/wire/routes.ts';
import { logInvocation, serviceLogger } from '../http/service-logger.ts';
import { documentClient } from '../store/dynamo.ts';
import { signingProjectStore } from '../store/projects.ts';
import { SteadyClock } from './deadlines.ts';
import { deliver } from './deliver.ts';
import { sliceDependencies } from './dependencies.ts';
import { observer } from './observer.ts';

const environment = readEnvironment(variablesOf('deliver'), process.env);

const steadyClock = new SteadyClock();
const clock = steadyClock.now;
const logger = serviceLogger('deliver');
const dynamo = documentClient();
const projects = signingProjectStore(
  dynamo,
  { projects: environment.PROJECTS_TABLE, vapidKeys: environment.VAPID_KEYS_TABLE },
  clock,
);
const deps = sliceDependencies(environment, dynamo, projects, clock, observer(logger, clock));

/** Delivers one slice of a notification's audience: see {@link deliver}. Only send invokes it. */
export async function handler(event: unknown, context: Context): Promise<void> {
  steadyClock.start();
  const slice = sliceSchema.parse(event);
  logInvocation(logger, context, slice.requestId);
  const endsAt =
    clock().getTime() + context.getRemainingTimeInMillis() - sliceTimeline.lastWritesMs;
  await deliver(deps, slice, randomUUID(), endsAt);
}
