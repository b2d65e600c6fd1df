import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { startGuard } from '../../local/dynamodb/guard.ts';
import { startDynamoDbProxy } from '../../local/dynamodb/proxy.ts';
import { startLambdaApi } from '../../local/lambda/api.ts';
import { Executions } from '../../local/lambda/executions.ts';
import { startPushService } from '../../local/push-service/push-service.ts';

interface Server {
  /** Origin of the server. */
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** The check comes before the database, which does not exist. */
const target = 'http://127.0.0.1:1';

const servers: readonly (readonly [string, () => Promise<Server>])[] = [
  ['the guard of DynamoDB Local', () => startGuard(target, 'id')],
  ['the database proxy', () => startDynamoDbProxy({ target, grants: new Map() })],
  [
    'the Lambda API',
    () =>
      startLambdaApi({
        functions: [],
        environments: new Map(),
        grants: new Map(),
        executions: new Executions(() => Promise.reject(new Error('No function is invoked.'))),
      }),
  ],
  [
    'the push service',
    async () => {
      const pushService = await startPushService();
      return { endpoint: pushService.origin, stop: () => pushService.stop() };
    },
  ],
];

const webSocket = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'push-notification',
};

/** Sends one of the kinds of pages that host-and-origin.test.ts has. `fetch` would refuse the headers. */
async function call(endpoint: string, headers: Readonly<Record<string, string>>) {
  const sent = request(endpoint, { method: 'upgrade' in headers ? 'GET' : 'POST', headers });
  sent.end();
  const upgraded = once(sent, 'upgrade').then(([response, socket]) => {
    socket.destroy();
    return response;
  });
  return (await Promise.race([
    once(sent, 'response').then(([response]) => response),
    upgraded,
  ])) as IncomingMessage;
}

const foreign = { origin: 'https://evil.example' };

test.each(servers)('%s refuses a request of a page, and says why', async (_, start) => {
  const { endpoint, stop } = await start();
  try {
    const response = await call(endpoint, foreign);
    expect(response.statusCode).toBe(403);
    expect(await text(response)).toContain('no page of another origin');
    expect(Object.keys(response.headers)).not.toContain('access-control-allow-origin');
  } finally {
    await stop();
  }
});

test('the push service refuses the WebSocket of a page', async () => {
  const { origin, stop } = await startPushService();
  try {
    expect((await call(origin, { ...webSocket, ...foreign })).statusCode).toBe(403);
    const firefox = await call(origin, { ...webSocket, origin: `ws://${new URL(origin).host}/` });
    expect(firefox.statusCode).toBe(101);
  } finally {
    await stop();
  }
});
