import { randomUUID } from 'node:crypto';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { Context } from 'aws-lambda';
import { readEnvironment } from '../../contract/environment.ts';
import { limits } from '../../contract/limits.ts';
import { metricNamespace } from '../../contract/metrics.ts';
import { type DeliverResponse, shareSchema } from '../../contract/share.ts';
import { serviceLogger } from '../http/service-logger.ts';
import { deliverShare } from '../shares/deliver-share.ts';
import { metricPublisher, shareObserver } from '../shares/observation.ts';
import { shareParts, shareVariables } from '../shares/share-parts.ts';
import { documentClient } from '../store/dynamo.ts';
import { signingProjectStore } from '../store/projects.ts';

const environment = readEnvironment(shareVariables, process.env);

const clock = () => new Date();
const dynamo = documentClient();
const projects = signingProjectStore(
  dynamo,
  { projects: environment.PROJECTS_TABLE, vapidKeys: environment.VAPID_KEYS_TABLE },
  clock,
);
const publish = metricPublisher(new Metrics({ namespace: metricNamespace }));
const parts = {
  ...shareParts(environment, dynamo, projects, clock),
  observe: shareObserver(serviceLogger('deliver'), publish),
};

/**
 * Delivers one share of a notification's audience. Only send invokes it.
 * @throws if the share was not delivered to its end and may be resumed: Lambda repeats the invocation.
 */
export async function handler(event: unknown, context: Context): Promise<DeliverResponse> {
  const share = shareSchema.parse(event);
  const project = await projects.find(share.projectId);
  // The project was deleted meanwhile, and its subscriptions with it.
  if (project === undefined) return {};
  const endsAt = Date.now() + context.getRemainingTimeInMillis() - limits.share.lastWritesMs;
  const outcome = await deliverShare(parts, project, share, { id: randomUUID(), endsAt });
  return { result: outcome?.result };
}
