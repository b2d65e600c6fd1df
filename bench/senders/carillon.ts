import { setTimeout as sleep } from 'node:timers/promises';
import { vapidSigner } from '../../lambdas/push/crypto/vapid.ts';
import { inFlight as defaults } from '../../lambdas/push/pushing/push-service.ts';
import { startPushingWith } from '../../lambdas/push/pushing/pusher.ts';
import { pushTransport } from '../../lambdas/push/transport/transport.ts';
import { serve, subject, ttl } from '../sender-process.ts';

/** Pushes as the send function does, with the benchmark's limit of pushes in flight. */
serve(({ origin, ca, vapid, payload, inFlight }) => {
  const clock = () => new Date();
  const startPushing = startPushingWith({
    transport: pushTransport({ limit: inFlight, ca }),
    sign: vapidSigner(subject, clock),
    clock,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    random: Math.random,
    extraOrigins: [origin],
    inFlight: {
      ...defaults,
      overall: inFlight,
      perPushService: inFlight,
      others: inFlight,
      initial: inFlight,
      minimum: inFlight,
    },
  });
  return async (subscriptions) => {
    // Longer than any benchmark.
    const endAt = Date.now() + 600_000;
    const broadcast = startPushing({
      messages: [Buffer.from(payload)],
      options: { ttl },
      times: { lastPushAt: endAt, pausesAt: endAt, endAt, lastAttemptAt: endAt },
      classOf: () => origin,
      isAwaited: true,
      pushesPerSecond: Number.POSITIVE_INFINITY,
      remove: async () => {},
      mark: async () => {},
      correctPair: async () => {},
    });
    broadcast.add(
      // The table holds them in this form; the hash is for removals.
      subscriptions.map(({ endpoint, keys }) => ({
        endpointHash: new Uint8Array(),
        origin,
        path: endpoint.slice(origin.length),
        p256dh: Buffer.from(keys.p256dh, 'base64url'),
        auth: Buffer.from(keys.auth, 'base64url'),
      })),
      { current: { number: 0, ...vapid } },
      Date.now(),
    );
    await broadcast.end();
    const counts = broadcast.soFar();
    if (counts.delivered !== subscriptions.length) throw new Error(JSON.stringify(counts));
  };
});
