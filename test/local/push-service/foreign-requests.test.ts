import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { startPushService } from '../../../local/push-service/push-service.ts';

const foreign = 'https://evil.example';

test('the push service refuses a request of a page, and says why', async () => {
  const { origin, stop } = await startPushService();
  try {
    const response = await fetch(origin, { method: 'POST', headers: { origin: foreign } });
    expect(response.status).toBe(403);
    expect(await response.text()).toContain('no page of another origin');
    expect(response.headers.has('access-control-allow-origin')).toBe(false);
  } finally {
    await stop();
  }
});

test('the push service refuses the WebSocket of a page', async () => {
  const { origin, stop } = await startPushService();
  const address = origin.replace('http', 'ws');
  const connect = (from: string) => new WebSocket(address, 'push-notification', { origin: from });
  try {
    const [, refused] = await once(connect(foreign), 'unexpected-response');
    expect((refused as IncomingMessage).statusCode).toBe(403);
    const firefox = connect(`${address}/`);
    await once(firefox, 'open');
    firefox.terminate();
  } finally {
    await stop();
  }
});
