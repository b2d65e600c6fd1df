import { setTimeout as sleep } from 'node:timers/promises';
import { vapidSigner } from '../../lambdas/push/crypto/vapid.ts';
import { delivery } from '../../lambdas/push/delivery/delivery.ts';
import { pushTransport } from '../../lambdas/push/transport/transport.ts';
import { audienceOf } from '../audience.ts';
import { serve, subject, ttl } from '../sender-process.ts';

/** Delivery as in the send function, with the benchmark's limit of pushes in flight. */
serve(({ origin, ca, vapid, payload, inFlight }) => {
  const clock = () => new Date();
  const deliver = delivery({
    transport: pushTransport({ limit: inFlight, ca }),
    sign: vapidSigner(subject, clock),
    clock,
    idleTime: () => performance.eventLoopUtilization().idle,
    sleep,
    abortAfter: (ms) => AbortSignal.timeout(ms),
    random: Math.random,
    extraOrigins: [origin],
    ttl,
    inFlight: { overall: inFlight, perLane: inFlight, atFirst: inFlight, atLeast: inFlight },
  });
  return async (subscriptions) => {
    const report = await deliver({
      message: Buffer.from(payload),
      vapid,
      audience: audienceOf(
        subscriptions.map(({ endpoint, keys }) => ({ endpoint, endpointHash: '', ...keys })),
      ),
      lastPushAt: Date.now() + 600_000,
      endAt: Date.now() + 600_000,
      remove: async () => {},
    });
    if (report.delivered !== subscriptions.length) throw new Error(JSON.stringify(report));
  };
});
