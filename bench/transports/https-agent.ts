import https from 'node:https';
import { serve } from '../sender-process.ts';
import { transportSender } from '../transport-sender.ts';

/** `https.request` with a keep-alive agent. */
serve(
  transportSender(({ ca, inFlight }) => {
    const agent = new https.Agent({ keepAlive: true, maxSockets: inFlight, ca });
    return ({ origin, path, headers, body, timeoutMs }) =>
      new Promise((resolve, reject) => {
        const push = https.request(origin + path, {
          method: 'POST',
          agent,
          headers: { ...headers, 'content-length': body.length },
          signal: AbortSignal.timeout(timeoutMs),
        });
        push.once('error', reject);
        push.once('response', (response) => {
          response.resume();
          response.once('end', () =>
            resolve({ status: response.statusCode!, headers: {}, body: '' }),
          );
        });
        push.end(body);
      });
  }),
);
