/**
 * Delivers to several push services at once, as the send function does, and tells how long it was
 * until those that are healthy had answered all their pushes. Told what to do by one message.
 */
import { createECDH, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { newVapidPair } from '../../admin/vapid-pair.ts';
import type { Recipient } from '../../contract/audience.ts';
import { vapidSigner } from '../../lambdas/push/crypto/vapid.ts';
import { delivery, inFlight } from '../../lambdas/push/delivery/delivery.ts';
import { pushTransport } from '../../lambdas/push/transport/transport.ts';
import { endpointHash } from '../../lambdas/store/subscriptions.ts';
import { audienceOf } from '../audience.ts';
import { subject, ttl } from '../sender-process.ts';

export interface SlowServiceTask {
  /** Certificate to trust, PEM. */
  readonly ca: string;
  /** Origins of the healthy services, and of the other one where there is one. */
  readonly healthy: readonly string[];
  readonly other?: string | undefined;
  /** Subscriptions at each service. */
  readonly number: number;
}

export interface SlowServiceResult {
  /** Until the healthy services had answered all of their pushes. */
  readonly seconds: number;
  /** Of that, with nothing to do but wait for answers. */
  readonly idleSeconds: number;
  /** Pushes that the other service had answered by then. */
  readonly answeredByOther: number;
}

/** Subscriptions at each service before the measurement. */
const warmUp = 2000;

const [task] = (await once(process, 'message')) as [SlowServiceTask];
const { healthy, other, number, ca } = task;
const clock = () => new Date();
const idleTime = () => performance.eventLoopUtilization().idle;
const post = pushTransport({ limit: inFlight.overall, ca });
const vapid = newVapidPair();
let answers = new Map<string, number>();
let served: () => void = () => {};

const deliver = delivery({
  transport: async (request) => {
    const answer = await post(request);
    answers.set(request.origin, (answers.get(request.origin) ?? 0) + 1);
    if (healthy.every((origin) => answers.get(origin) === number)) served();
    return answer;
  },
  sign: vapidSigner(subject, clock),
  clock,
  idleTime,
  sleep,
  abortAfter: (ms) => AbortSignal.timeout(ms),
  random: Math.random,
  extraOrigins: [...healthy, ...(other === undefined ? [] : [other])],
  inFlight,
  ttl,
});

// The first pushes find code that is not compiled for speed and connections that are not open.
await broadcast(healthy, warmUp);
const since = performance.now();
const idleBefore = idleTime();
const allServed = new Promise<void>((resolve) => {
  served = resolve;
});
void broadcast(other === undefined ? healthy : [...healthy, other], number);
await allServed;
const result: SlowServiceResult = {
  seconds: (performance.now() - since) / 1000,
  idleSeconds: (idleTime() - idleBefore) / 1000,
  answeredByOther: other === undefined ? 0 : (answers.get(other) ?? 0),
};
process.send!(result, () => process.exit());

async function broadcast(origins: readonly string[], each: number): Promise<void> {
  answers = new Map();
  await deliver({
    message: Buffer.from(JSON.stringify({ title: 'Hello', body: 'x'.repeat(250) })),
    vapid,
    audience: audienceOf(recipientsAt(origins, each)),
    lastPushAt: Date.now() + 600_000,
    endAt: Date.now() + 600_000,
    remove: async () => {},
  });
}

function recipientsAt(origins: readonly string[], each: number): Recipient[] {
  const p256dh = createECDH('prime256v1').generateKeys('base64url');
  const keys = { p256dh, auth: randomBytes(16).toString('base64url') };
  const recipients = origins.flatMap((origin) =>
    Array.from({ length: each }, (_, index) => {
      const endpoint = `${origin}/push/${index}`;
      return { endpoint, endpointHash: endpointHash(endpoint), ...keys };
    }),
  );
  return recipients.sort((one, other) => (one.endpointHash < other.endpointHash ? -1 : 1));
}
