import Pool from 'undici/lib/dispatcher/pool.js';
import type { Transport } from '../lambdas/push/transport/transport.ts';
import { serve } from './sender-process.ts';
import { transportSender } from './transport-sender.ts';

interface DispatchSettings {
  readonly connections?: number;
  readonly pipelining?: number;
  readonly allowH2?: boolean;
}

/** undici's lowest-level interface. It creates no objects for a request and its body. */
export function serveDispatch({ connections, ...settings }: DispatchSettings = {}): void {
  serve(
    transportSender(({ origin, ca, inFlight }) => {
      const pool = new Pool(origin, {
        connections: connections ?? inFlight,
        connect: { ca },
        ...settings,
      });
      // Otherwise undici sends a POST only after the response to the previous one.
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
