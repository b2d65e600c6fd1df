import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CarillonError } from '../../sdk/common/error.ts';
import {
  deleteSubscription,
  inClick,
  onceOnly,
  type Patience,
  postSubscription,
} from '../../sdk/common/service.ts';

const subscription = {
  endpoint: 'https://updates.push.services.mozilla.com/wpush/v2/a?b=c&d',
  expirationTime: null,
  keys: { p256dh: 'p', auth: 'a' },
};

let server: Server | undefined;

afterEach(async () => {
  const closed = server && once(server, 'close');
  server?.close();
  server?.closeAllConnections();
  await closed;
  server = undefined;
});

/** Starts a service that gives these answers in turn, and the last one from then on. */
async function serviceOf(...answers: readonly RequestListener[]) {
  const requests: { method: string; url: string; body: string }[] = [];
  const waits: number[] = [];
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const answer = answers[Math.min(requests.length, answers.length - 1)]!;
    requests.push({ method: request.method!, url: request.url!, body });
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
  const project = { baseUrl, projectId: 'demo', applicationServerKey: 'key' };
  const patience: Patience = { ...inClick, wait: async (ms) => waits.push(ms) };
  return { project, patience, requests, waits };
}

function answer(status: number, body: unknown, headers = {}): RequestListener {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

const ok = answer(200, { ok: true });
const hangUp: RequestListener = (request) => request.socket.destroy();
const hang: RequestListener = () => {};

function failure(code: string, status: number, headers = {}) {
  return answer(status, { error: { code, message: 'A sentence.' } }, headers);
}

const errorOf = (promise: Promise<void>) => promise.catch((error: CarillonError) => error);

test('a subscription is posted as the browser states it, with its user', async () => {
  const { project, patience, requests } = await serviceOf(ok);
  await postSubscription(project, subscription, 'ada', patience);
  const [request] = requests;
  expect(request).toMatchObject({ method: 'POST', url: '/api/v1/projects/demo' });
  expect(JSON.parse(request!.body)).toEqual({ ...subscription, userId: 'ada' });
});

test('of a browser without a user, no userId is posted', async () => {
  const { project, patience, requests } = await serviceOf(ok);
  await postSubscription(project, subscription, undefined, patience);
  expect(JSON.parse(requests[0]!.body)).toEqual(subscription);
});

test('the endpoint to remove is encoded', async () => {
  const { project, patience, requests } = await serviceOf(ok);
  await deleteSubscription(project, subscription.endpoint, patience);
  const { method, url } = requests[0]!;
  expect(method).toBe('DELETE');
  expect(new URL(url, project.baseUrl).searchParams.get('endpoint')).toBe(subscription.endpoint);
});

test.each([
  ['lost connections', hangUp],
  ['a throttle of the gateway', answer(429, { message: 'Too Many Requests' })],
  ['a time-out of the gateway', answer(503, { message: 'Service Unavailable' })],
  ['503', failure('unavailable', 503)],
])('in a click, %s are retried after 1 to 2 s, then after 3 to 6 s', async (_, broken) => {
  const { project, patience, requests, waits } = await serviceOf(broken, broken, ok);
  await postSubscription(project, subscription, undefined, patience);
  expect(requests).toHaveLength(3);
  const [first, second, ...others] = waits;
  expect(first).toBeGreaterThanOrEqual(1000);
  expect(first).toBeLessThan(2000);
  expect(second).toBeGreaterThanOrEqual(3000);
  expect(second).toBeLessThan(6000);
  expect(others).toEqual([]);
});

test('a third failure in a click is final', async () => {
  const { project, patience, requests } = await serviceOf(hangUp);
  const error = await errorOf(postSubscription(project, subscription, undefined, patience));
  expect(error).toMatchObject({ name: 'CarillonError', code: 'network_error' });
  expect(requests).toHaveLength(3);
});

test('a service that hangs gets all the time there is, and no second request', async () => {
  const { project, patience, requests } = await serviceOf(hang);
  const short = { ...patience, timeoutMs: 500 };
  const error = await errorOf(postSubscription(project, subscription, undefined, short));
  expect(error).toMatchObject({ code: 'network_error' });
  expect(requests).toHaveLength(1);
});

test.each([
  ['a lost connection', hangUp, 'network_error'],
  ['503', failure('unavailable', 503, { 'retry-after': '1' }), 'unavailable'],
])('in the background, %s is not retried', async (_, broken, code) => {
  const { project, requests } = await serviceOf(broken);
  const error = await errorOf(postSubscription(project, subscription, undefined, onceOnly));
  expect(error).toMatchObject({ code });
  expect(requests).toHaveLength(1);
});

test.each([
  ['unavailable', 503],
  ['rate_limited', 429],
])('the Retry-After of %s is waited for in full before the pause', async (code, status) => {
  const short = failure(code, status, { 'retry-after': '3' });
  const { project, patience, waits } = await serviceOf(short, ok);
  await postSubscription(project, subscription, undefined, patience);
  expect(waits).toHaveLength(1);
  expect(waits[0]).toBeGreaterThanOrEqual(3000 + 1000);
});

test.each([
  ['unavailable', 503],
  ['rate_limited', 429],
])('a Retry-After of %s past the end of a click is left to the caller', async (code, status) => {
  const long = failure(code, status, { 'retry-after': '42' });
  const { project, patience, requests } = await serviceOf(long);
  const error = await errorOf(postSubscription(project, subscription, undefined, patience));
  expect(error).toMatchObject({ code, status, retryAfter: 42, message: 'A sentence.' });
  expect(requests).toHaveLength(1);
});

test.each([
  ['subscriber_cap_reached', 403],
  ['project_not_found', 404],
  ['internal_error', 500],
])('%s is not tried again', async (code, status) => {
  const { project, patience, requests } = await serviceOf(failure(code, status));
  const error = await errorOf(postSubscription(project, subscription, undefined, patience));
  expect(error).toMatchObject({ code, status, retryAfter: undefined, message: 'A sentence.' });
  expect(requests).toHaveLength(1);
});

test('the issues of a wrong field come through', async () => {
  const issues = [{ path: 'userId', message: 'must be text of 1 to 256 characters' }];
  const { project, patience } = await serviceOf(
    answer(400, { error: { code: 'invalid_request', message: 'Wrong.', issues } }),
  );
  const error = await errorOf(postSubscription(project, subscription, '', patience));
  expect(error).toMatchObject({ code: 'invalid_request', issues });
});

test.each([
  [400, 'Bad Request', 'invalid_request'],
  [413, 'Request Entity Too Large', 'payload_too_large'],
  [429, 'Too Many Requests', 'rate_limited'],
  [500, 'Internal Server Error', 'internal_error'],
  [503, 'Service Unavailable', 'unavailable'],
])('the gateway’s own response %i "%s" has the code %s', async (status, message, code) => {
  const { project, patience } = await serviceOf(answer(status, { message }));
  const error = await errorOf(postSubscription(project, subscription, undefined, patience));
  expect(error).toMatchObject({ name: 'CarillonError', code, status, message });
});

test.each([
  ['a page of a proxy', 503, '<html>'],
  ['a path that the gateway does not know', 404, { message: 'Not Found' }],
  ['the gateway of another service', 403, { message: 'Forbidden' }],
  ['an error of another form', 400, { error: 'invalid_request' }],
  ['a message that is no text', 429, { message: {} }],
  ['null', 500, null],
])('a response of %s is not the service’s', async (_, status, body) => {
  const { project, patience } = await serviceOf((_request, response) => {
    response.statusCode = status;
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  const error = await errorOf(postSubscription(project, subscription, undefined, patience));
  expect(error).toMatchObject({ code: 'unexpected_response', status });
});
