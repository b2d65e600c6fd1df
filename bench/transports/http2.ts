import http2 from 'node:http2';
import { serve } from '../sender-process.ts';
import { transportSender } from '../transport-sender.ts';

/** Two sessions of `node:http2`, in turn. */
serve(
  transportSender(({ origin, ca }) => {
    const sessions = [http2.connect(origin, { ca }), http2.connect(origin, { ca })];
    let turn = 0;
    return ({ path, headers, body }) =>
      new Promise((resolve, reject) => {
        turn += 1;
        const stream = sessions[turn % 2]!.request({
          ':method': 'POST',
          ':path': path,
          ...headers,
          'content-length': body.length,
        });
        stream.once('response', (answer) => {
          stream.resume();
          stream.once('end', () => resolve({ status: answer[':status']!, headers: {}, body: '' }));
        });
        stream.once('error', reject);
        stream.end(body);
      });
  }),
);
