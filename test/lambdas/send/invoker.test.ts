import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { shareInvoker } from '../../../lambdas/send/invoker.ts';
import { documentClient } from '../../../lambdas/store/dynamo.ts';
import { noCounts } from '../../fixtures/virtual-delivery.ts';
import { share } from '../shares/recorded-share-parts.ts';

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Response {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

const config = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' },
};
const result = { ...noCounts, attempted: 2, delivered: 2, isComplete: true };

let server: Server;
let endpoint: string;
let received: Received[];
/** Undefined: the connection is closed without a response. */
let response: Response | undefined;

beforeAll(async () => {
  server = createServer(async (request, reply) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method, url, headers } = request;
    received.push({ method, url, headers, body });
    if (response === undefined) reply.destroy();
    else reply.writeHead(response.status, response.headers).end(response.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  received = [];
  response = { status: 200, body: JSON.stringify({ result }) };
});

function invoke(type: 'sync' | 'async', signal = new AbortController().signal) {
  return shareInvoker(documentClient(config), 'Stage-Deliver', endpoint).invoke(
    share(),
    type,
    signal,
  );
}

test.each([
  ['sync', 'RequestResponse'],
  ['async', 'Event'],
] as const)('a share that is invoked %s is sent as the SDK sends it', async (type, invocation) => {
  await invoke(type);
  response = { status: 200, body: '{}' };
  const client = new LambdaClient({ ...config, endpoint });
  await client.send(
    new InvokeCommand({
      FunctionName: 'Stage-Deliver',
      InvocationType: invocation,
      Payload: Buffer.from(JSON.stringify(share())),
    }),
  );
  client.destroy();
  const [ours, sdks] = received as [Received, Received];
  expect({ ...ours, body: JSON.parse(ours.body) }).toMatchObject({
    method: sdks.method,
    url: new URL(sdks.url!, endpoint).pathname,
    headers: {
      'x-amz-invocation-type': invocation,
      'x-amz-security-token': 'token',
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-east-1\/lambda\/aws4_request, SignedHeaders=\S*host;\S*x-amz-invocation-type\S*, Signature=[0-9a-f]{64}$/,
      ),
    },
    body: JSON.parse(sdks.body),
  });
});

test('the result is that of the function', async () => {
  expect(await invoke('sync')).toEqual({ kind: 'result', result });
});

test.each<[string, Response | undefined, string]>([
  ['429', { status: 429 }, 'refused'],
  ['500', { status: 500 }, 'unknown'],
  ['403', { status: 403 }, 'unknown'],
  ['none', undefined, 'unknown'],
  ['no result', { status: 200, body: '{}' }, 'unknown'],
  ['something else', { status: 200, body: '{"result":{}}' }, 'unknown'],
  ['no JSON', { status: 200, body: '<' }, 'unknown'],
  [
    'an error of the function',
    { status: 200, headers: { 'x-amz-function-error': 'Unhandled' }, body: '{}' },
    'died',
  ],
])('an invocation whose response is %s', async (_, given, kind) => {
  response = given;
  expect(await invoke('sync')).toEqual({ kind });
});

test.each([
  [202, 'accepted'],
  [429, 'refused'],
  [500, 'unknown'],
])('an asynchronous invocation with the status %i is %s', async (status, kind) => {
  response = { status };
  expect(await invoke('async')).toEqual({ kind });
});

test('an invocation that takes too long has an unknown outcome', async () => {
  expect(await invoke('sync', AbortSignal.abort())).toEqual({ kind: 'unknown' });
});
