import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Environment } from '../../contract/infrastructure/environment.ts';
import type { SigningProject } from '../../contract/wire/project.ts';
import type { VariableOf } from '../../contract/wire/routes.ts';
import type { Host } from '../host.ts';
import { vapidSigner } from '../push/crypto/vapid.ts';
import { inFlight } from '../push/pushing/push-service.ts';
import { startPushingWith } from '../push/pushing/pusher.ts';
import { publicLookup } from '../push/transport/public-lookup.ts';
import { pushTransport } from '../push/transport/transport.ts';
import { audienceStore } from '../store/audience.ts';
import { eventCounterStore } from '../store/notifications.ts';
import type { ProjectStore } from '../store/projects.ts';
import { sliceStore } from '../store/slices.ts';
import { subscriptionStore } from '../store/subscriptions.ts';
import type { DeliverDependencies } from './deliver.ts';
import type { Observer } from './observer.ts';

/** What both functions that deliver slices are made of. */
export function sliceDependencies(
  { sleep, after, abortAfter, random, wallClock, connect }: Host,
  environment: Pick<Environment, VariableOf<'deliver'>>,
  dynamo: DynamoDBDocumentClient,
  projects: ProjectStore<SigningProject>,
  clock: () => Date,
  observe: Observer,
): DeliverDependencies {
  const { SUBSCRIPTIONS_TABLE: subscriptions, USAGE_TABLE: usage } = environment;
  return {
    audiences: audienceStore(dynamo, subscriptions, sleep),
    subscriptions: subscriptionStore(dynamo, { subscriptions, usage }, clock, random),
    projects,
    slices: sliceStore(dynamo, environment.DELIVERIES_TABLE, sleep),
    eventCounters: eventCounterStore(dynamo, environment.DELIVERIES_TABLE),
    startPushing: startPushingWith({
      transport: pushTransport({
        limit: inFlight.overall,
        now: wallClock,
        after,
        connect,
        lookup: publicLookup({
          trustedOrigins: environment.EXTRA_PUSH_ORIGINS,
          preferIpv6: environment.PREFER_IPV6,
        }),
      }),
      sign: vapidSigner(environment.VAPID_SUBJECT, clock),
      clock,
      sleep,
      random,
      extraOrigins: environment.EXTRA_PUSH_ORIGINS,
      inFlight,
      onFault: observe.fault,
    }),
    clock,
    sleep,
    abortAfter,
    random,
    observe,
  };
}
