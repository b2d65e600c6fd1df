import Pool from 'undici/lib/dispatcher/pool.js';
import type { Transport } from '../lambdas/push/transport/transport.ts';
import { serve } from './sender-process.ts';
import { transportSender } from './transport-sender.ts';

interface DispatchSettings {
  readonly connections?: number;
  readonly pipelining?: number;
  readonly allowH2?: boolean;
}

/** undici's innermost interface, which spares the objects of a request and its body. */
export function serveDispatch({ connections, ...settings }: DispatchSettings = {}): void {
  serve(
    transportSender(({ origin, ca, inFlight }) => {
      const pool = new Pool(origin, {
        connections: connections ?? inFlight,
        connect: { ca },
        ...settings,
      });
      // Without this undici holds a POST back until the one before it is answered.
      const idempotent = (settings.pipelining ?? 1) > 1;
      const transport: Transport = ({ path, headers, body, timeoutMs }) =>
        new Promise((resolve, reject) => {
          let status = 0;
          pool.dispatch(
            {
              method: 'POST',
              path,
              headers: { ...headers },
              body,
              headersTimeout: timeoutMs,
              idempotent,
            },
            {
              onConnect() {},
              onHeaders(received) {
                status = received;
                return true;
              },
              onData: () => true,
              onComplete: () => resolve({ status, headers: {}, body: '' }),
              onError: reject,
            },
          );
        });
      return transport;
    }),
  );
}
