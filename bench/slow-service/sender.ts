/**
 * Delivers a broadcast to several push services, as the send function does, and measures the time
 * until the healthy ones have responded to all their pushes. Receives one task, sends one result.
 */
import { createECDH, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { newVapidPair } from '../../admin/vapid-pair.ts';
import type { Recipient } from '../../contract/audience.ts';
import { vapidSigner } from '../../lambdas/push/crypto/vapid.ts';
import { inFlight } from '../../lambdas/push/pushing/limiter.ts';
import { startPushingWith } from '../../lambdas/push/pushing/running-pusher.ts';
import { pushTransport } from '../../lambdas/push/transport/transport.ts';
import { recipient } from '../recipient.ts';
import { subject } from '../sender-process.ts';
import { unlimitedPushing } from '../unlimited-pushing.ts';

export interface SlowServiceTask {
  /** Certificate to trust, PEM. */
  readonly ca: string;
  /** Origins of the healthy push services. */
  readonly healthy: readonly string[];
  /** Origin of the third push service. */
  readonly third?: string | undefined;
  /** Number of subscriptions at each push service. */
  readonly subscriptions: number;
}

export interface SlowServiceResult {
  /** Until the healthy push services have responded to all their pushes. */
  readonly seconds: number;
  /** Part of `seconds` in which this process waited for responses. */
  readonly idleSeconds: number;
  /** Responses of the third push service within `seconds`. */
  readonly thirdResponses: number;
}

/** Pushes to each push service before the measurement. */
const warmUpPushes = 2000;

const [task] = (await once(process, 'message')) as [SlowServiceTask];
const { healthy, third, subscriptions, ca } = task;
const clock = () => new Date();
const idleTime = () => performance.eventLoopUtilization().idle;
const post = pushTransport({ limit: inFlight.overall, ca });
const vapid = newVapidPair();
let responses = new Map<string, number>();
let onHealthyFinished: () => void = () => {};

const startPushing = startPushingWith({
  transport: async (request) => {
    const response = await post(request);
    responses.set(request.origin, (responses.get(request.origin) ?? 0) + 1);
    if (healthy.every((origin) => responses.get(origin) === subscriptions)) onHealthyFinished();
    return response;
  },
  sign: vapidSigner(subject, clock),
  clock,
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
  random: Math.random,
  extraOrigins: third === undefined ? healthy : [...healthy, third],
  inFlight,
});

// Warms up V8's optimized code and the connections.
await broadcast(healthy, warmUpPushes);
const start = performance.now();
const idleBefore = idleTime();
const healthyFinished = new Promise<void>((resolve) => {
  onHealthyFinished = resolve;
});
void broadcast(third === undefined ? healthy : [...healthy, third], subscriptions);
await healthyFinished;
const result: SlowServiceResult = {
  seconds: (performance.now() - start) / 1000,
  idleSeconds: (idleTime() - idleBefore) / 1000,
  thirdResponses: third === undefined ? 0 : (responses.get(third) ?? 0),
};
process.send!(result, () => process.exit());

async function broadcast(origins: readonly string[], pushesEach: number): Promise<void> {
  responses = new Map();
  const message = { title: 'Hello', body: 'x'.repeat(250) };
  const started = startPushing(unlimitedPushing(Buffer.from(JSON.stringify(message))));
  started.add(createRecipients(origins, pushesEach), { current: { number: 0, ...vapid } });
  await started.end();
}

function createRecipients(origins: readonly string[], countEach: number): Recipient[] {
  const p256dh = createECDH('prime256v1').generateKeys('base64url');
  const keys = { p256dh, auth: randomBytes(16).toString('base64url') };
  const recipients = origins.flatMap((origin) =>
    Array.from({ length: countEach }, (_, index) =>
      recipient({ endpoint: `${origin}/push/${index}`, keys }),
    ),
  );
  return recipients.sort((one, other) => Buffer.compare(one.endpointHash, other.endpointHash));
}
