import { randomBytes } from 'node:crypto';
import type { Transport } from '../lambdas/push/transport/transport.ts';
import { eachInFlight, type Sender, type SenderTask, ttl } from './sender-process.ts';

/** Sends bodies that only look encrypted, so that a transport alone is measured. */
export function transportSender(open: (task: SenderTask) => Transport): Sender {
  return (task) => {
    const transport = open(task);
    const body = randomBytes(task.payload.length + 103);
    const headers = {
      // As long as a real one.
      authorization: `vapid t=${'t'.repeat(230)}, k=${task.vapid.publicKey}`,
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      ttl: String(ttl),
    };
    return (subscriptions) =>
      eachInFlight(subscriptions, task.inFlight, ({ endpoint }) =>
        transport({
          origin: task.origin,
          path: endpoint.slice(task.origin.length),
          headers,
          body,
          timeoutMs: 10_000,
        }),
      );
  };
}
