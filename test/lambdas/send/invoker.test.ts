import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { type AfterForgetting, connectionForgetter } from 'aws-emulator/loopback';
import { sliceStarter } from '../../../lambdas/send/invoker.ts';
import { documentClient } from '../../../lambdas/store/dynamo.ts';
import { slice } from '../deliver/delivery-setup.ts';

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
  response = { status: 202 };
});

function start(signal = new AbortController().signal, lambdaEndpoint = endpoint) {
  return sliceStarter(documentClient(config), 'Stage-Deliver', lambdaEndpoint).start(
    slice(),
    signal,
  );
}

test('an invocation is sent as the SDK sends it', async () => {
  expect(await start()).toBe(true);
  response = { status: 202, body: '{}' };
  const client = new LambdaClient({ ...config, endpoint });
  await client.send(
    new InvokeCommand({
      ...{ FunctionName: 'Stage-Deliver', InvocationType: 'Event' },
      Payload: Buffer.from(JSON.stringify(slice())),
    }),
  );
  client.destroy();
  const [ours, sdks] = received as [Received, Received];
  expect({ ...ours, body: JSON.parse(ours.body) }).toMatchObject({
    method: sdks.method,
    url: new URL(sdks.url!, endpoint).pathname,
    headers: {
      'content-type': sdks.headers['content-type'],
      'x-amz-invocation-type': 'Event',
      'x-amz-security-token': 'token',
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-east-1\/lambda\/aws4_request, SignedHeaders=\S*host;\S*x-amz-invocation-type\S*, Signature=[0-9a-f]{64}$/,
      ),
    },
    body: JSON.parse(sdks.body),
  });
});

test('a slice with a condition that this code does not know is not sent', async () => {
  const starter = sliceStarter(documentClient(config), 'Stage-Deliver', endpoint);
  const unknown = { ...slice(), conditions: { country: 'de' } } as never;
  await expect(starter.start(unknown, new AbortController().signal)).rejects.toThrow();
  expect(received).toEqual([]);
});

test.each<[string, Response | undefined]>([
  ['429', { status: 429 }],
  ['500', { status: 500 }],
  ['403', { status: 403 }],
  ['missing', undefined],
])('an invocation whose response is %s is not taken', async (_, given) => {
  response = given;
  expect(await start()).toBe(false);
});

test('an invocation that takes too long is not known to be taken', async () => {
  expect(await start(AbortSignal.abort())).toBe(false);
});

function breakFirst(reply: ServerResponse): boolean {
  if (received.length > 1) return false;
  reply.destroy();
  return true;
}

describe('a connection that breaks before the response', () => {
  test('is replaced once', async () => {
    respond = breakFirst;
    expect(await start()).toBe(true);
    expect(received).toHaveLength(2);
    expect(received[1]).toEqual(received[0]);
  });

  test('is not replaced twice', async () => {
    response = undefined;
    expect(await start()).toBe(false);
    expect(received).toHaveLength(2);
  });

  test('is not replaced if the time is over', async () => {
    const stop = new AbortController();
    respond = () => {
      stop.abort();
      return true;
    };
    expect(await start(stop.signal)).toBe(false);
    expect(received).toHaveLength(1);
  });
});

test('connections of earlier invocations are not used', async () => {
  await Promise.all(Array.from({ length: 8 }, () => start()));
  forgetConnections('silence');
  expect(await start(AbortSignal.timeout(10_000))).toBe(true);
});

test.each([
  ['eu-west-1', 'https://lambda.eu-west-1.amazonaws.com'],
  ['us-gov-west-1', 'https://lambda.us-gov-west-1.amazonaws.com'],
  ['cn-north-1', 'https://lambda.cn-north-1.amazonaws.com.cn'],
  ['eusc-de-east-1', 'https://lambda.eusc-de-east-1.amazonaws.eu'],
])('in %s, Lambda is at %s', async (region, origin) => {
  const origins: string[] = [];
  const post = async (url: URL) => {
    origins.push(url.origin);
    return { statusCode: 202, destroy() {} };
  };
  const client = documentClient({ ...config, region });
  const starter = sliceStarter(client, 'Stage-Deliver', undefined, post);
  expect(await starter.start(slice(), new AbortController().signal)).toBe(true);
  expect(origins).toEqual([origin]);
});
