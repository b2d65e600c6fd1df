import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { inspect } from 'node:util';
import { audienceFields } from '../../../contract/wire/send-fields.ts';
import {
  type CarillonError,
  CarillonServer,
  type CarillonServerOptions,
} from '../../../sdk/server/carillon-server.ts';
import {
  closeConnection,
  errorResponse,
  jsonResponse,
  neverRespond,
  type ReceivedRequest,
  startRecordingService,
  stopServices,
} from '../fixtures/recording-service.ts';

const secretKey = `carillon_sk_${'k'.repeat(43)}`;
const result = { id: 'an-id', attempted: 1, delivered: 1, removed: 0, failed: 0 };
const path = '/api/v1/projects/shop/notifications';

afterEach(stopServices);

/** Starts a service that sends these responses in turn, and then repeats the last one. */
async function setUp(
  responses: readonly RequestListener[],
  options: Partial<CarillonServerOptions> = {},
  wait: (ms: number, signal?: AbortSignal) => Promise<unknown> = async () => {},
) {
  const { origin, requests } = await startRecordingService(responses);
  const waits: number[] = [];
  let waitedMs = 0;
  const carillon = new CarillonServer(
    { baseUrl: origin, projectId: 'shop', secretKey, ...options },
    {
      elapsed: () => waitedMs,
      random: () => 1,
      wait: async (ms, signal) => {
        waits.push(ms);
        waitedMs += ms;
        await wait(ms, signal);
      },
    },
  );
  return { carillon, origin, requests, waits };
}

const sent = jsonResponse(201, result);
const breakOff: RequestListener = (request, response) => {
  response.writeHead(201, { 'content-length': 100 });
  response.write('{"id":', () => request.socket.destroy());
};

const failureOf = (promise: Promise<unknown>) => promise.catch((error: CarillonError) => error);

test('send posts the notification with the secret key and returns the counts', async () => {
  const { carillon, requests } = await setUp([sent]);
  const notification = { title: 'Doors open', userIds: ['ada'] };
  expect(await carillon.send(notification)).toEqual(result);
  const [{ method, url, headers, body }] = requests as [ReceivedRequest];
  expect([method, url, JSON.parse(body)]).toEqual(['POST', path, notification]);
  expect(headers).toMatchObject({
    authorization: `Bearer ${secretKey}`,
    'content-type': 'application/json',
    'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  expect(headers).not.toHaveProperty('prefer');
});

test('with `respondAsync`, send asks for a response before the delivery', async () => {
  const accepted = { id: 'an-id', status: 'sending' };
  const { carillon, requests } = await setUp([jsonResponse(202, accepted)]);
  expect(await carillon.send({ title: 'Hello' }, { respondAsync: true })).toEqual(accepted);
  expect(requests[0]!.headers.prefer).toBe('respond-async');
});

describe('reads and removals', () => {
  const project = '/api/v1/projects/shop';
  const list = { notifications: [] };
  const user = { subscriptions: 2 };
  test.each<[string, (carillon: CarillonServer) => Promise<unknown>, string, string, unknown]>([
    ['project', (c) => c.project(), 'GET', project, { name: 'Shop' }],
    ['notification', (c) => c.notification('an-id'), 'GET', `${path}/an-id`, result],
    ['stop', (c) => c.stop('a/b'), 'DELETE', `${path}/a%2Fb`, result],
    ['notifications', (c) => c.notifications(), 'GET', path, list],
    [
      'notifications, a page',
      (c) => c.notifications({ limit: 5, cursor: 'c=' }),
      'GET',
      `${path}?limit=5&cursor=c%3D`,
      list,
    ],
    ['user', (c) => c.user('ada'), 'GET', `${project}/users?userId=ada`, user],
    [
      'user, an id to encode',
      (c) => c.user('a&b/é'),
      'GET',
      `${project}/users?userId=a%26b%2F%C3%A9`,
      user,
    ],
    [
      'removeUser',
      (c) => c.removeUser('ada'),
      'DELETE',
      `${project}/users?userId=ada`,
      { removed: 2 },
    ],
    [
      'removeDevice',
      (c) => c.removeDevice('ada', 'an-id'),
      'DELETE',
      `${project}/users?userId=ada&device=an-id`,
      { removed: 1 },
    ],
  ])('%s', async (_, call, method, url, body) => {
    const { carillon, requests } = await setUp([jsonResponse(200, body)]);
    expect(await call(carillon)).toEqual(body);
    expect(requests).toMatchObject([
      { method, url, headers: { authorization: `Bearer ${secretKey}` }, body: '' },
    ]);
  });
});

const { test: _flag, ...narrowing } = audienceFields;
describe('without what narrows it, a send would reach everybody', () => {
  class OfOrder {
    title = 'Your parcel';
    get userIds() {
      return ['ada'];
    }
  }
  const left = Object.keys(narrowing).map((name) => [name, { title: 'Hello', [name]: undefined }]);
  test.each<[string, object]>([
    ...(left as [string, object][]),
    ['userIds', { title: 'Hello', userIds: () => ['ada'] }],
    ['userIds', new OfOrder()],
  ])('send refuses a notification of which JSON leaves out `%s`', async (name, notification) => {
    const { carillon, requests } = await setUp([sent]);
    expect(await failureOf(carillon.send(notification as never))).toMatchObject({
      code: 'invalid_options',
      message: `Invalid option "${name}": JSON omits it; leave it out to send to everyone.`,
    });
    expect(requests).toEqual([]);
  });

  test('any other field may be undefined', async () => {
    const { carillon, requests } = await setUp([sent]);
    await carillon.send({ title: 'Hello', body: undefined, data: { channels: undefined } });
    expect(JSON.parse(requests[0]!.body)).toEqual({ title: 'Hello', data: {} });
  });
});

const noTexts: readonly unknown[] = [undefined, null, '', 0, 7, true, {}, { id: 'ada' }, ['ada']];

describe.each<[string, (carillon: CarillonServer, text: never) => Promise<unknown>]>([
  ['notification', (c, text) => c.notification(text)],
  ['stop', (c, text) => c.stop(text)],
  ['user', (c, text) => c.user(text)],
  ['removeUser', (c, text) => c.removeUser(text)],
  ['removeDevice of a user', (c, text) => c.removeDevice(text, 'an-id')],
  ['removeDevice, the device', (c, text) => c.removeDevice('ada', text)],
])('%s', (_, call) => {
  test.each(noTexts.map((text) => [text]))('refuses %j', async (text) => {
    const { carillon, requests } = await setUp([jsonResponse(200, { removed: 0 })]);
    expect(await failureOf(call(carillon, text as never))).toMatchObject({
      code: 'invalid_options',
      message: expect.stringMatching(/^Invalid option "\w+": use text that is not empty\.$/),
    });
    expect(requests).toEqual([]);
  });
});

test.each<[string, (carillon: CarillonServer, options: never) => Promise<unknown>]>([
  ['notification', (c, options) => c.notification('an-id', options)],
  ['notifications', (c, options) => c.notifications(options)],
  ['project', (c, options) => c.project(options)],
  ['user', (c, options) => c.user('ada', options)],
  ['removeUser', (c, options) => c.removeUser('ada', options)],
  ['removeDevice', (c, options) => c.removeDevice('ada', 'an-id', options)],
])('%s refuses an unknown option', async (_, call) => {
  const { carillon, requests } = await setUp([jsonResponse(200, {})]);
  for (const given of [{ device: 'an-id' }, { Signal: undefined }, 'an-id']) {
    const error = await failureOf(call(carillon, given as never));
    expect(error).toMatchObject({ code: 'invalid_options' });
  }
  expect(requests).toEqual([]);
});

test('each send has another idempotency key, unless the caller gives one', async () => {
  const { carillon, requests } = await setUp([sent]);
  await carillon.send({ title: 'Hello' });
  await carillon.send({ title: 'Hello' });
  await carillon.send({ title: 'Hello' }, { idempotencyKey: 'job-17' });
  const [first, second, third] = requests.map(({ headers }) => headers['idempotency-key']);
  expect(first).not.toBe(second);
  expect(third).toBe('job-17');
});

test('notification reads one by its id, percent-encoded, also after a failure', async () => {
  const { carillon, requests } = await setUp([closeConnection, jsonResponse(200, result)]);
  expect(await carillon.notification('a/b')).toEqual(result);
  expect(requests[1]).toMatchObject({ method: 'GET', url: `${path}/a%2Fb`, body: '' });
  expect(requests[1]!.headers.authorization).toBe(`Bearer ${secretKey}`);
});

test.each([
  ['a broken connection', closeConnection],
  ['a response that breaks off', breakOff],
  ['409 request_in_progress', errorResponse('request_in_progress', 409)],
  ['429 rate_limited', errorResponse('rate_limited', 429)],
  ['500 internal_error', errorResponse('internal_error', 500)],
  ['503 unavailable', errorResponse('unavailable', 503)],
  ['a negative Retry-After', errorResponse('unavailable', 503, { 'retry-after': '-100000' })],
  ['throttling by the gateway', jsonResponse(429, { message: 'Too Many Requests' })],
  ['a time-out of the gateway', jsonResponse(503, { message: 'Service Unavailable' })],
  ['a 502 of a proxy', jsonResponse(502, 'Bad Gateway')],
])('%s is retried with the same key and body, after growing pauses', async (_, fail) => {
  const { carillon, requests, waits } = await setUp([fail, fail, sent]);
  expect(await carillon.send({ title: 'Hello' })).toEqual(result);
  expect(waits).toEqual([1000, 3000]);
  expect(requests).toHaveLength(3);
  const key = ({ headers, body }: ReceivedRequest) => [headers['idempotency-key'], body];
  expect(new Set(requests.map((request) => JSON.stringify(key(request)))).size).toBe(1);
});

test.each([
  ['invalid_request', 400],
  ['unauthorized', 401],
  ['notification_not_found', 404],
  ['payload_too_large', 413],
  ['idempotency_key_reused', 422],
  ['send_cap_reached', 429],
])('%s is not retried', async (code, status) => {
  const { carillon, requests } = await setUp([errorResponse(code, status, { 'retry-after': '1' })]);
  const error = await failureOf(carillon.send({ title: 'Hello' }));
  expect(error).toMatchObject({ name: 'CarillonError', code, status, message: 'A message.' });
  expect(requests).toHaveLength(1);
});

test('the pause starts after Retry-After', async () => {
  const fail = errorResponse('rate_limited', 429, { 'retry-after': '60' });
  const { carillon, waits } = await setUp([fail, sent]);
  await carillon.send({ title: 'Hello' });
  expect(waits).toEqual([60_000 + 1000]);
});

test.each([
  [undefined, 61],
  [5, 6],
])(
  'with maxRetryAfterSeconds %p, a Retry-After of %i s is not waited for',
  async (max, seconds) => {
    const fail = errorResponse('rate_limited', 429, { 'retry-after': String(seconds) });
    const { carillon, requests } = await setUp([fail, sent], { maxRetryAfterSeconds: max! });
    const error = await failureOf(carillon.send({ title: 'Hello' }));
    expect(error).toMatchObject({ code: 'rate_limited', retryAfter: seconds });
    expect(requests).toHaveLength(1);
  },
);

test.each([
  [undefined, [1000, 3000, 9000, 27_000]],
  [4000, [1000]],
])('with timeoutMs %p, no pause ends later', async (timeoutMs, expected) => {
  const fail = errorResponse('unavailable', 503);
  const { carillon, requests, waits } = await setUp([fail], { timeoutMs: timeoutMs! });
  expect(await failureOf(carillon.send({ title: 'Hello' }))).toMatchObject({ code: 'unavailable' });
  expect(waits).toEqual(expected);
  expect(requests).toHaveLength(expected.length + 1);
});

test('a call without a response ends at its time limit', async () => {
  const { carillon } = await setUp([neverRespond], { timeoutMs: 300 });
  const error = await failureOf(carillon.send({ title: 'Hello' }));
  expect(error).toMatchObject({ code: 'network_error', cause: { name: 'TimeoutError' } });
});

test('an aborted signal ends an attempt, and the call rejects with its reason', async () => {
  const controller = new AbortController();
  const reason = new Error('The server stops.');
  const abort = () => controller.abort(reason);
  // So that no pause follows.
  const { carillon, requests } = await setUp([abort], { timeoutMs: 900 });
  const { signal } = controller;
  expect(await failureOf(carillon.send({ title: 'Hello' }, { signal }))).toBe(reason);
  expect(await failureOf(carillon.notification('an-id', { signal }))).toBe(reason);
  expect(requests).toHaveLength(1);
});

test('an aborted signal ends a pause', async () => {
  const controller = new AbortController();
  const reason = new Error('The server stops.');
  const waitForever = (_: number, signal?: AbortSignal) => {
    const aborted = once(signal!, 'abort').then(() => Promise.reject(new Error('aborted')));
    controller.abort(reason);
    return aborted;
  };
  const { carillon, requests } = await setUp([closeConnection, sent], {}, waitForever);
  const { signal } = controller;
  expect(await failureOf(carillon.send({ title: 'Hello' }, { signal }))).toBe(reason);
  expect(requests).toHaveLength(1);
});

test.each([
  [200, '<html>'],
  [200, 'null'],
  [404, '<html>'],
])('a response with status %i and body %s is not from Carillon', async (status, body) => {
  const { carillon, requests } = await setUp([
    (_, response) => response.writeHead(status).end(body),
  ]);
  const error = await failureOf(carillon.send({ title: 'Hello' }));
  expect(error).toMatchObject({ code: 'unexpected_response', status });
  expect(requests).toHaveLength(1);
});

test.each([
  [400, 'Bad Request', 'invalid_request'],
  [413, 'Request Entity Too Large', 'payload_too_large'],
  [429, 'Too Many Requests', 'rate_limited'],
  [500, 'Internal Server Error', 'internal_error'],
  [502, 'Bad Gateway', 'unavailable'],
  [502, null, 'unavailable'],
  [503, 'Service Unavailable', 'unavailable'],
  [504, 'Endpoint request timed out', 'unavailable'],
  [504, {}, 'unavailable'],
  [429, {}, 'unexpected_response'],
])('gateway response %i %j gets the code %s', async (status, message, code) => {
  // So that no pause follows.
  const { carillon } = await setUp([jsonResponse(status, { message })], { timeoutMs: 900 });
  expect(await failureOf(carillon.send({ title: 'Hello' }))).toMatchObject({
    code,
    status,
    message: expect.any(String),
    ...(code !== 'unexpected_response' && { cause: expect.stringContaining('gateway') }),
  });
});

test('a response of the gateway, or of a proxy, that says how long to wait keeps that', async () => {
  const { carillon } = await setUp([
    jsonResponse(429, { message: 'Too Many Requests' }, { 'retry-after': '61' }),
  ]);
  const error = await failureOf(carillon.send({ title: 'Hello' }));
  expect(error).toMatchObject({ code: 'rate_limited', retryAfter: 61 });
});

test('a redirect is not followed, because it would turn send into a GET', async () => {
  const { carillon, requests } = await setUp([
    (_, response) => response.writeHead(301, { location: '/elsewhere' }).end(),
  ]);
  const error = await failureOf(carillon.send({ title: 'Hello' }));
  expect(error).toMatchObject({ code: 'unexpected_response', status: 301 });
  expect(requests).toHaveLength(1);
});

const valid = { baseUrl: 'https://push.example.com', projectId: 'shop', secretKey };

test.each([
  ['baseUrl', { baseUrl: undefined }],
  ['baseUrl', { baseUrl: 'https://push.example.com/api' }],
  ['projectId', { projectId: 'Shop' }],
  ['secretKey', { secretKey: undefined }],
  ['secretKey', { secretKey: `${secretKey}\n` }],
  ['timeOutMs', { timeOutMs: 5 }],
])('an invalid %s is refused: %j', (name, given) => {
  const create = () => new CarillonServer({ ...valid, ...given } as CarillonServerOptions);
  expect(create).toThrow(`Invalid option "${name}": `);
});

test.each([
  ['idempotencykey', 'idempotencyKey'],
  ['respond_async', 'respondAsync'],
])('the unknown option %s of send is refused, and %s named', async (unknown, meant) => {
  const { carillon, requests } = await setUp([sent]);
  const error = await failureOf(carillon.send({ title: 'Hello' }, { [unknown]: 'x' } as never));
  expect(error).toMatchObject({
    code: 'invalid_options',
    message: `Invalid option "${unknown}": unknown; use ${meant}.`,
  });
  expect(requests).toEqual([]);
});

test.each(['', 'two words', 'é', 'k'.repeat(256), null])(
  'the idempotency key %j is refused',
  async (idempotencyKey) => {
    const { carillon, requests } = await setUp([sent]);
    const options = { idempotencyKey: idempotencyKey as string };
    const error = await failureOf(carillon.send({ title: 'Hello' }, options));
    expect(error).toMatchObject({ code: 'invalid_options' });
    expect(requests).toEqual([]);
  },
);

test('in a page, the client refuses to run', () => {
  Reflect.set(globalThis, 'document', {});
  try {
    expect(() => new CarillonServer(valid)).toThrow('everyone can read a secret key in a page');
  } finally {
    Reflect.deleteProperty(globalThis, 'document');
  }
});

test('the secret key is not printed with the client', () => {
  const carillon = new CarillonServer(valid);
  expect(
    inspect(carillon, { showHidden: true, depth: 5 }) + JSON.stringify(carillon),
  ).not.toContain(secretKey);
});

test.each([
  ['https://push.example.com', undefined],
  ['http://localhost:4000', undefined],
  ['http://shop.localhost:4000', undefined],
  ['http://127.0.0.1:4000', undefined],
  ['http://[::1]:4000', undefined],
  ['http://push.example.com', 'use https'],
  ['http://localhost.example.com', 'use https'],
  ['http://127.0.0.1.example.com', 'use https'],
])('the base URL %s gets the advice %p', (baseUrl, advice) => {
  const create = () => new CarillonServer({ baseUrl, projectId: 'shop', secretKey });
  if (advice === undefined) expect(create).not.toThrow();
  else expect(create).toThrow(advice);
});

describe('an address that has never responded', () => {
  /** A client whose pauses are skipped, and counted. */
  function clientOf(baseUrl: string) {
    let waitedMs = 0;
    const start = performance.now();
    const carillon = new CarillonServer(
      { ...valid, baseUrl },
      {
        elapsed: () => Math.round(performance.now() - start) + waitedMs,
        random: () => 1,
        wait: async (ms) => {
          waitedMs += ms;
        },
      },
    );
    return { carillon, elapsedMs: () => performance.now() - start + waitedMs };
  }

  test.each<[string, RequestListener]>([
    ['is silent', () => {}],
    ['closes each connection', closeConnection],
  ])(
    'fails within 15 s if it %s, by its name',
    async (_, respond) => {
      const { origin } = await startRecordingService([respond]);
      const { carillon, elapsedMs } = clientOf(origin);
      expect(await failureOf(carillon.send({ title: 'T' }))).toMatchObject({
        code: 'network_error',
        message: expect.stringContaining(origin),
      });
      expect(elapsedMs()).toBeLessThan(15_500);
    },
    40_000,
  );

  test('is asked something else during a long send, and then waited for', async () => {
    const { origin, requests } = await startRecordingService([
      (_, response) => void setTimeout(() => sent(_, response), 16_000),
      (_, response) => response.writeHead(404).end(),
    ]);
    expect(await clientOf(origin).carillon.send({ title: 'T' })).toEqual(result);
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `POST ${path}`,
      'HEAD /',
    ]);
    expect(requests[1]!.headers.authorization).toBeUndefined();
  }, 40_000);
});

test('what has responded once is retried until the time is over', async () => {
  const { carillon, waits } = await setUp([sent, closeConnection]);
  await carillon.send({ title: 'Hello' });
  await failureOf(carillon.send({ title: 'Hello' }));
  expect(waits).toEqual([1000, 3000, 9000, 27_000]);
});

test('a refused connection to this machine is not repeated, and says what to check', async () => {
  const { carillon, waits } = await setUp([jsonResponse(201, result)]);
  await stopServices();
  await expect(carillon.send({ title: 'Hello' })).rejects.toMatchObject({
    code: 'network_error',
    message: expect.stringContaining('check "baseUrl"'),
  });
  expect(waits).toEqual([]);
});

test('each retry is reported, with the failure before it and the pause', async () => {
  const onRetry = jest.fn();
  const unavailable = errorResponse('unavailable', 503);
  const responses = [unavailable, unavailable, jsonResponse(201, result)];
  const { carillon, waits } = await setUp(responses, { onRetry });
  await carillon.send({ title: 'Hello' });
  const failure = expect.objectContaining({ code: 'unavailable' });
  expect(onRetry.mock.calls).toEqual(waits.map((ms) => [failure, ms]));
  expect(waits).toHaveLength(2);
});

describe('fromEnvironment', () => {
  const variables = {
    CARILLON_BASE_URL: 'http://localhost:4000',
    CARILLON_PROJECT: 'shop',
    CARILLON_SECRET_KEY: secretKey,
  };
  const before = { ...process.env };
  beforeEach(() => Object.assign(process.env, variables));
  afterEach(() => {
    process.env = { ...before };
  });

  test('calls the service with the project and the key of the variables', async () => {
    const { origin, requests } = await setUp([sent]);
    process.env.CARILLON_BASE_URL = origin;
    process.env.CARILLON_SECRET_KEY = `${secretKey}\n`;
    expect(await CarillonServer.fromEnvironment().send({ title: 'T' })).toEqual(result);
    expect(requests[0]).toMatchObject({
      url: path,
      headers: { authorization: `Bearer ${secretKey}` },
    });
  });

  test('takes the other options', async () => {
    const limited = errorResponse('rate_limited', 429, { 'retry-after': 30 });
    const { origin, requests } = await setUp([limited]);
    process.env.CARILLON_BASE_URL = origin;
    const carillon = CarillonServer.fromEnvironment({ maxRetryAfterSeconds: 29 });
    expect(await failureOf(carillon.send({ title: 'T' }))).toMatchObject({ code: 'rate_limited' });
    expect(requests).toHaveLength(1);
  });

  test.each([
    ['CARILLON_BASE_URL', undefined, 'the address of the service'],
    ['CARILLON_PROJECT', '', 'the project id'],
    ['CARILLON_SECRET_KEY', ' ', "the project's secret key"],
  ])('says that %s is not set (%j), and where its value is', (name, value, meaning) => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
    const read = () => CarillonServer.fromEnvironment();
    expect(read).toThrow(expect.objectContaining({ code: 'invalid_options' }));
    expect(read).toThrow(`The environment variable ${name} is not set. Its value, ${meaning}`);
    expect(read).toThrow('API key card');
    expect(read).toThrow('.carillon/local.env');
  });
});
