import { setTimeout } from 'node:timers/promises';
import type { Environment } from '../../contract/environment.ts';
import type { SigningProject } from '../../contract/project.ts';
import { abortAfter } from '../http/time-limit.ts';
import { vapidSigner } from '../push/crypto/vapid.ts';
import { inFlight } from '../push/pushing/limiter.ts';
import { startPushingWith } from '../push/pushing/running-pusher.ts';
import { publicLookup } from '../push/transport/public-lookup.ts';
import { pushTransport } from '../push/transport/transport.ts';
import { audienceStore } from '../store/audience.ts';
import type { documentClient } from '../store/dynamo.ts';
import type { ProjectStore } from '../store/projects.ts';
import { subscriptionStore } from '../store/subscriptions.ts';
import { tallyStore } from '../store/tallies.ts';
import type { ShareDependencies } from './deliver-share.ts';
import type { Observer } from './observer.ts';

/** Environment variables of a function that delivers shares. */
export const shareVariables = [
  'PROJECTS_TABLE',
  'VAPID_KEYS_TABLE',
  'SUBSCRIPTIONS_TABLE',
  'USAGE_TABLE',
  'TALLIES_TABLE',
  'VAPID_SUBJECT',
  'EXTRA_PUSH_ORIGINS',
  'PREFER_IPV6',
] as const;

/** What both functions that deliver shares are made of. */
export function shareDependencies(
  environment: Pick<Environment, (typeof shareVariables)[number]>,
  dynamo: ReturnType<typeof documentClient>,
  projects: ProjectStore<SigningProject>,
  clock: () => Date,
  observe: Observer,
): ShareDependencies {
  const { SUBSCRIPTIONS_TABLE: subscriptions, USAGE_TABLE: usage } = environment;
  const sleep = (ms: number, signal?: AbortSignal) => setTimeout(ms, undefined, { signal });
  return {
    audiences: audienceStore(dynamo, subscriptions),
    subscriptions: subscriptionStore(dynamo, { subscriptions, usage }, clock),
    projects,
    tallies: tallyStore(dynamo, environment.TALLIES_TABLE),
    startPushing: startPushingWith({
      transport: pushTransport({
        limit: inFlight.overall,
        lookup: publicLookup({
          trustedOrigins: environment.EXTRA_PUSH_ORIGINS,
          preferIpv6: environment.PREFER_IPV6,
        }),
      }),
      sign: vapidSigner(environment.VAPID_SUBJECT, clock),
      clock,
      sleep,
      random: Math.random,
      extraOrigins: environment.EXTRA_PUSH_ORIGINS,
      inFlight,
      onFault: observe.fault,
    }),
    clock,
    observe,
    sleep,
    abortAfter,
  };
}
