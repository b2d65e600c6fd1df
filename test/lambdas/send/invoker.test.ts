import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { noCounts } from '../../../contract/counts.ts';
import { shareInvoker } from '../../../lambdas/send/invoker.ts';
import { documentClient } from '../../../lambdas/store/dynamo.ts';
import { type AfterForgetting, connectionForgetter } from '../../../local/forget-connections.ts';
import { share } from '../deliver/recorded-share-dependencies.ts';

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
const incomplete = { ...noCounts, isComplete: false };
const result = { ...noCounts, attempted: 2, delivered: 2, isComplete: true };

let server: Server;
let endpoint: string;
let received: Received[];
/** Undefined: the connection is closed without a response. */
let response: Response | undefined;
/** Returns true if it responded itself. */
let respond: (reply: ServerResponse) => boolean;
let forgetConnections: (then: AfterForgetting) => number;

beforeAll(async () => {
  server = createServer(async (request, reply) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method, url, headers } = request;
    received.push({ method, url, headers, body });
    if (respond(reply)) return;
    if (response === undefined) reply.destroy();
    else reply.writeHead(response.status, response.headers).end(response.body);
  });
  forgetConnections = connectionForgetter(server);
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  received = [];
  respond = () => false;
  response = { status: 200, body: JSON.stringify({ result }) };
});

function invoke(
  type: 'sync' | 'async',
  signal = new AbortController().signal,
  lambdaEndpoint = endpoint,
) {
  const { invoke } = shareInvoker(documentClient(config), 'Stage-Deliver', lambdaEndpoint);
  return invoke(share(), type, signal);
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
      'content-type': sdks.headers['content-type'],
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
  ['429', { status: 429 }, 'throttled'],
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
  [429, 'throttled'],
  [500, 'unknown'],
])('an asynchronous invocation with the status %i is %s', async (status, kind) => {
  response = { status };
  expect(await invoke('async')).toEqual({ kind });
});

test('an invocation that takes too long has an unknown outcome', async () => {
  expect(await invoke('sync', AbortSignal.abort())).toEqual({ kind: 'unknown' });
});

function breakFirst(reply: ServerResponse): boolean {
  if (received.length > 1) return false;
  reply.destroy();
  return true;
}

describe('a connection that breaks before the response', () => {
  test.each([
    ['sync', 200, { kind: 'result', result }],
    ['async', 202, { kind: 'accepted' }],
  ] as const)('is replaced once: %s', async (type, status, outcome) => {
    response = { status, body: JSON.stringify({ result }) };
    respond = breakFirst;
    expect(await invoke(type)).toEqual(outcome);
    expect(received).toHaveLength(2);
    expect(received[1]).toEqual(received[0]);
  });

  // Lambda may have got the first request, too, and that invocation may have the share.
  test.each<[string, Response]>([
    ['does nothing', { status: 200, body: JSON.stringify({ result: incomplete }) }],
    ['dies', { status: 200, headers: { 'x-amz-function-error': 'Unhandled' }, body: '{}' }],
    ['is throttled', { status: 429 }],
  ])('has an unknown outcome if the second invocation %s', async (_, given) => {
    response = given;
    respond = breakFirst;
    expect(await invoke('sync')).toEqual({ kind: 'unknown' });
  });

  test('is not replaced twice', async () => {
    response = undefined;
    expect(await invoke('sync')).toEqual({ kind: 'unknown' });
    expect(received).toHaveLength(2);
  });

  test('is not replaced if the time is over', async () => {
    const stop = new AbortController();
    respond = () => {
      stop.abort();
      return true;
    };
    expect(await invoke('sync', stop.signal)).toEqual({ kind: 'unknown' });
    expect(received).toHaveLength(1);
  });

  test('has an unknown outcome if no other one can be opened', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const refused = `http://127.0.0.1:${port}`;
    expect(await invoke('sync', undefined, refused)).toEqual({ kind: 'unknown' });
  });
});

test('an invocation whose response breaks off is not repeated', async () => {
  respond = (reply) => {
    reply.writeHead(200, { 'content-length': '100' }).write('{"result"', () => reply.destroy());
    return true;
  };
  expect(await invoke('sync')).toEqual({ kind: 'unknown' });
  expect(received).toHaveLength(1);
});

test('connections of earlier invocations are not used', async () => {
  await Promise.all(Array.from({ length: 8 }, () => invoke('sync')));
  forgetConnections('silence');
  expect(await invoke('sync', AbortSignal.timeout(10_000))).toEqual({ kind: 'result', result });
});
