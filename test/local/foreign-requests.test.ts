import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { startGuard } from 'aws-emulator/dynamodb/guard';
import { startDynamoDbProxy } from 'aws-emulator/dynamodb/proxy';
import { startLambdaApi } from 'aws-emulator/lambda/api';
import { Executions } from 'aws-emulator/lambda/executions';
import { WebSocket } from 'ws';
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

const foreign = 'https://evil.example';

test.each(servers)('%s refuses a request of a page, and says why', async (_, start) => {
  const { endpoint, stop } = await start();
  try {
    const response = await fetch(endpoint, { method: 'POST', headers: { origin: foreign } });
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
