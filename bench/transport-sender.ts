import { randomBytes } from 'node:crypto';
import type { Transport } from '../lambdas/push/transport/transport.ts';
import { eachInFlight, type Sender, type SenderTask, ttl } from './sender-process.ts';

/** Encryption adds this to a payload (aes128gcm, RFC 8188 §2). */
const encryptionBytes = 103;

/** Sends random bodies instead of encrypted ones, in order to measure only the transport. */
export function transportSender(open: (task: SenderTask) => Transport): Sender {
  return (task) => {
    const transport = open(task);
    const body = randomBytes(task.payload.length + encryptionBytes);
    const headers = {
      // As long as a real header.
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
