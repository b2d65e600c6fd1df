import { pathOf, routes } from '../../contract/routes.ts';
import type { NotificationResult } from '../../contract/schemas/notification.ts';
import { CarillonServer } from '../../sdk/server/carillon-server.ts';
import type { ProjectRegistry } from '../project-registry.ts';
import type { RandomSource } from '../secret-key.ts';
import { newVapidPair } from '../vapid-pair.ts';
import type { Finding } from './finding.ts';

export interface CanaryDependencies {
  readonly registry: ProjectRegistry;
  readonly baseUrl: string;
  /** An endpoint that no browser has, at a push service. @param id unique. */
  readonly canaryEndpoint: (id: string) => string;
  readonly random: RandomSource;
}

/**
 * Subscribes an endpoint that does not exist, sends to it and lets the send remove it: the push service responds that
 * it is gone. One push, to a project that is created for it and deleted after it.
 * @throws if a step fails.
 */
export async function runCanary(deps: CanaryDependencies): Promise<Finding> {
  const { registry, baseUrl, canaryEndpoint, random } = deps;
  const id = random(16).toString('hex');
  const projectId = `doctor-${id}`;
  const { secretKey } = await registry.create({ projectId, name: 'Doctor', random });
  try {
    await subscribe(baseUrl + pathOf(routes.subscribe, { projectId }), {
      endpoint: canaryEndpoint(id),
      keys: { p256dh: newVapidPair().publicKey, auth: random(16).toString('base64url') },
    });
    const carillon = new CarillonServer({ baseUrl, projectId, secretKey, timeoutMs });
    const { id: notificationId } = await carillon.send({ title: 'Canary' });
    const result = await carillon.notification(notificationId);
    return findingOf(result, new URL(canaryEndpoint(id)).host);
  } finally {
    await registry.remove(projectId, random);
  }
}

/** A check that fails should say so within a minute. */
const timeoutMs = 40_000;

async function subscribe(url: string, subscription: object): Promise<void> {
  const { ok, status } = await fetch(url, {
    method: routes.subscribe.method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(subscription),
  });
  if (!ok) throw new Error(`${url} responded to subscribe with status ${status}.`);
}

function findingOf(
  { attempted, removed, failures = {} }: NotificationResult,
  host: string,
): Finding {
  if (removed === 1) {
    return {
      level: 'ok',
      message: `Subscribed an endpoint that does not exist, sent to it, and ${host} reported it as gone.`,
    };
  }
  const [reason = attempted === 1 ? 'delivered' : 'not attempted'] = Object.keys(failures);
  return {
    level: 'problem',
    message: `The push to ${host} ended as ${reason}. ${advice[reason] ?? advice.other}`,
  };
}

const advice: Readonly<Record<string, string>> = {
  vapid_refused: 'Check the setting vapidSubject.',
  no_response: 'The functions cannot reach push services: check the network of the functions.',
  other: 'docs/operating.md has the meaning; look at the log of send.',
};
