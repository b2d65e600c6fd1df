import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';
import { readEnvironment } from '../../contract/environment.ts';
import { type DeliverResponse, shareSchema } from '../../contract/share.ts';
import { shareTimeline } from '../../contract/timeline.ts';
import { logInvocation, serviceLogger } from '../http/service-logger.ts';
import { documentClient } from '../store/dynamo.ts';
import { signingProjectStore } from '../store/projects.ts';
import { deliver } from './deliver.ts';
import { observer } from './observer.ts';
import { shareDependencies, shareVariables } from './share-dependencies.ts';

const environment = readEnvironment(shareVariables, process.env);

const clock = () => new Date();
const logger = serviceLogger('deliver');
const dynamo = documentClient();
const projects = signingProjectStore(
  dynamo,
  { projects: environment.PROJECTS_TABLE, vapidKeys: environment.VAPID_KEYS_TABLE },
  clock,
);
const deps = shareDependencies(environment, dynamo, projects, clock, observer(logger, clock));

/** Delivers one share of a notification's audience: see {@link deliver}. Only send invokes it. */
export async function handler(event: unknown, context: Context): Promise<DeliverResponse> {
  const share = shareSchema.parse(event);
  logInvocation(logger, context, share.requestId);
  const endsAt = Date.now() + context.getRemainingTimeInMillis() - shareTimeline.lastWritesMs;
  return deliver(deps, share, { id: randomUUID(), endsAt });
}
