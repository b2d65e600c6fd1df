import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CarillonError } from '../../sdk/common/error.ts';
import { deleteSubscription, type Patience, postSubscription } from '../../sdk/common/service.ts';

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
  const calm: Patience = {
    pauses: [100, 200],
    answer: 500,
    retryAfter: 10,
    wait: async (ms) => waits.push(ms),
  };
  return { project, calm, requests, waits };
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
  const { project, calm, requests } = await serviceOf(ok);
  await postSubscription(project, subscription, 'ada', calm);
  const [request] = requests;
  expect(request).toMatchObject({ method: 'POST', url: '/api/v1/projects/demo' });
  expect(JSON.parse(request!.body)).toEqual({ ...subscription, userId: 'ada' });
});

test('of a browser without a user, no userId is posted', async () => {
  const { project, calm, requests } = await serviceOf(ok);
  await postSubscription(project, subscription, undefined, calm);
  expect(JSON.parse(requests[0]!.body)).toEqual(subscription);
});

test('the endpoint to remove is encoded', async () => {
  const { project, calm, requests } = await serviceOf(ok);
  await deleteSubscription(project, subscription.endpoint, calm);
  const { method, url } = requests[0]!;
  expect(method).toBe('DELETE');
  expect(new URL(url, project.baseUrl).searchParams.get('endpoint')).toBe(subscription.endpoint);
});

test.each([
  ['lost connections', hangUp],
  ['answers that do not come', hang],
  ['503', failure('unavailable', 503)],
])('%s are tried again after growing pauses', async (_, broken) => {
  const { project, calm, requests, waits } = await serviceOf(broken, broken, ok);
  await postSubscription(project, subscription, undefined, calm);
  expect(requests).toHaveLength(3);
  expect(waits).toEqual([100, 200]);
});

test('a 503 that asks for more patience gets it, within bounds', async () => {
  const short = failure('unavailable', 503, { 'retry-after': '3' });
  const { project, calm, waits } = await serviceOf(short, ok);
  await postSubscription(project, subscription, undefined, calm);
  expect(waits).toEqual([3000]);
});

test('a 503 that asks for too much is the caller’s to wait for', async () => {
  const { project, calm, requests } = await serviceOf(
    failure('unavailable', 503, { 'retry-after': '60' }),
  );
  const error = await errorOf(postSubscription(project, subscription, undefined, calm));
  expect(error).toMatchObject({ code: 'unavailable', status: 503, retryAfter: 60 });
  expect(requests).toHaveLength(1);
});

test('a service that stays away is a network error in the end', async () => {
  const { project, calm, requests } = await serviceOf(hangUp);
  const error = await errorOf(postSubscription(project, subscription, undefined, calm));
  expect(error).toMatchObject({ name: 'CarillonError', code: 'network_error' });
  expect(requests).toHaveLength(3);
});

test.each([
  ['rate_limited', 429, { 'retry-after': '42' }, 42],
  ['subscriber_cap_reached', 403, {}, undefined],
  ['project_not_found', 404, {}, undefined],
  ['internal_error', 500, {}, undefined],
])('%s is not tried again', async (code, status, headers, retryAfter) => {
  const { project, calm, requests } = await serviceOf(failure(code, status, headers));
  const error = await errorOf(postSubscription(project, subscription, undefined, calm));
  expect(error).toMatchObject({ code, status, retryAfter, message: 'A sentence.' });
  expect(requests).toHaveLength(1);
});

test('the issues of a wrong field come through', async () => {
  const issues = [{ path: 'userId', message: 'must be text of 1 to 256 characters' }];
  const { project, calm } = await serviceOf(
    answer(400, { error: { code: 'invalid_request', message: 'Wrong.', issues } }),
  );
  const error = await errorOf(postSubscription(project, subscription, '', calm));
  expect(error).toMatchObject({ code: 'invalid_request', issues });
});

test.each([
  [400, 'Bad Request', 'invalid_request'],
  [413, 'Request Entity Too Large', 'payload_too_large'],
  [429, 'Too Many Requests', 'rate_limited'],
  [500, 'Internal Server Error', 'internal_error'],
  [503, 'Service Unavailable', 'unavailable'],
])('the gateway’s own response %i "%s" has the code %s', async (status, message, code) => {
  const { project, calm } = await serviceOf(answer(status, { message }));
  const error = await errorOf(postSubscription(project, subscription, undefined, calm));
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
  const { project, calm } = await serviceOf((_request, response) => {
    response.statusCode = status;
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  const error = await errorOf(postSubscription(project, subscription, undefined, calm));
  expect(error).toMatchObject({ code: 'unexpected_response', status });
});
