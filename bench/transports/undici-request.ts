import { Pool } from 'undici';
import { serve } from '../sender-process.ts';
import { transportSender } from '../transport-sender.ts';

serve(
  transportSender(({ origin, ca, inFlight }) => {
    const pool = new Pool(origin, { connections: inFlight, connect: { ca } });
    return async ({ path, headers, body, timeoutMs }) => {
      const response = await pool.request({
        method: 'POST',
        path,
        headers,
        body,
        headersTimeout: timeoutMs,
      });
      await response.body.dump();
      return { status: response.statusCode, headers: {}, body: '' };
    };
  }),
);
