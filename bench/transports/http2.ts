import http2 from 'node:http2';
import { serve } from '../sender-process.ts';
import { transportSender } from '../transport-sender.ts';

/** Two sessions of `node:http2`, used in turn. */
serve(
  transportSender(({ origin, ca }) => {
    const sessions = [http2.connect(origin, { ca }), http2.connect(origin, { ca })];
    let requests = 0;
    return ({ path, headers, body }) =>
      new Promise((resolve, reject) => {
        requests += 1;
        const stream = sessions[requests % 2]!.request({
          ':method': 'POST',
          ':path': path,
          ...headers,
          'content-length': body.length,
        });
        stream.once('response', (received) => {
          stream.resume();
          stream.once('end', () =>
            resolve({ status: received[':status']!, headers: {}, body: '' }),
          );
        });
        stream.once('error', reject);
        stream.end(body);
      });
  }),
);
