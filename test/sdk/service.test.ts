import type { RequestListener } from 'node:http';
import { requestInteractively } from '../../sdk/client/request.ts';
import type { CarillonError } from '../../sdk/common/error.ts';
import {
  deleteSubscription,
  type Failure,
  type MakeRequest,
  postSubscription,
  requestOnce,
  type SignedChoice,
} from '../../sdk/common/service.ts';
import { timing } from '../../sdk/common/timing.ts';
import {
  closeConnection,
  errorResponse,
  jsonResponse,
  neverRespond,
  startRecordingService,
  stopServices,
} from './fixtures/recording-service.ts';

const subscription = {
  endpoint: 'https://updates.push.services.mozilla.com/wpush/v2/a?b=c&d',
  expirationTime: null,
  keys: { p256dh: 'p', auth: 'a' },
};

afterEach(stopServices);

/** Starts a service that sends these responses in turn, and then repeats the last one. */
async function startService(...responses: readonly RequestListener[]) {
  const { origin: baseUrl, requests } = await startRecordingService(responses);
  const waits: number[] = [];
  const project = { baseUrl, projectId: 'demo', applicationServerKey: 'key' };
  let waitedMs = 0;
  const virtual = {
    ...timing,
    // Node.js limits requests by whole milliseconds.
    elapsed: () => Math.round(timing.elapsed() + waitedMs),
    wait: async (ms: number) => {
      waits.push(ms);
      waitedMs += Math.ceil(ms);
    },
  };
  const interactive =
    (timeoutMs?: number): MakeRequest =>
    (url, init) =>
      requestInteractively(url, init, timeoutMs, virtual);
  const post = (user: Partial<SignedChoice> = {}, makeRequest = interactive()) =>
    postSubscription(project, subscription, user, makeRequest);
  return { project, interactive, post, requests, waits };
}

const ok = jsonResponse(200, { ok: true });
const errorOf = (promise: Promise<void>) => promise.catch((error: CarillonError) => error);

test('a subscription is posted unchanged, with its user id, the signature and its key', async () => {
  const { post, requests } = await startService(ok);
  await post({ userId: 'ada', userIdSignature: 'signature' });
  const [request] = requests;
  expect(request).toMatchObject({ method: 'POST', url: '/api/v1/projects/demo' });
  expect(JSON.parse(request!.body)).toEqual({
    ...subscription,
    userId: 'ada',
    userIdSignature: 'signature',
    applicationServerKey: 'key',
  });
});

test('without a user id, no `userId` is posted', async () => {
  const { post, requests } = await startService(ok);
  await post();
  expect(JSON.parse(requests[0]!.body)).not.toHaveProperty('userId');
});

test('the endpoint to remove is percent-encoded', async () => {
  const { project, interactive, requests } = await startService(ok);
  await deleteSubscription(project, subscription.endpoint, interactive());
  const { method, url } = requests[0]!;
  expect(method).toBe('DELETE');
  expect(new URL(url, project.baseUrl).searchParams.get('endpoint')).toBe(subscription.endpoint);
});

test.each([
  ['broken connections', closeConnection],
  ['a negative Retry-After', errorResponse('unavailable', 503, { 'retry-after': '-100000' })],
  ['gateway throttling', jsonResponse(429, { message: 'Too Many Requests' })],
  ['gateway time-outs', jsonResponse(503, { message: 'Service Unavailable' })],
  ['503 responses', errorResponse('unavailable', 503)],
  ['500 responses', errorResponse('internal_error', 500)],
])(
  'interactive: after %s, a request is repeated after 1.5 to 3 s, then after 4.5 to 9 s',
  async (_, fail) => {
    const { post, requests, waits } = await startService(fail, fail, ok);
    await post();
    expect(requests).toHaveLength(3);
    const [first, second, ...others] = waits;
    expect(first).toBeGreaterThanOrEqual(1500);
    expect(first).toBeLessThan(3000);
    expect(second).toBeGreaterThanOrEqual(4500);
    expect(second).toBeLessThan(9000);
    expect(others).toEqual([]);
  },
);

test('interactive: a third failure is final, because the third pause would end after 15 s', async () => {
  const { post, requests } = await startService(closeConnection);
  const error = await errorOf(post());
  expect(error).toMatchObject({ name: 'CarillonError', code: 'network_error' });
  expect(requests).toHaveLength(3);
});

test('interactive: a request without a response takes the whole time and is not repeated', async () => {
  const { interactive, post, requests } = await startService(neverRespond);
  const error = await errorOf(post({}, interactive(500)));
  expect(error).toMatchObject({ code: 'network_error' });
  expect(requests).toHaveLength(1);
});

test.each([
  ['a broken connection', closeConnection, undefined],
  ['a 503 response', errorResponse('unavailable', 503, { 'retry-after': '1' }), 503],
])('background: %s is not retried', async (_, fail, status) => {
  const { post, requests } = await startService(fail);
  const failure = await post({}, requestOnce).catch((one: Failure) => one);
  expect(failure?.response?.status).toBe(status);
  expect(requests).toHaveLength(1);
});

test('an unknown choice is left out, and nobody is null', async () => {
  const { post, requests } = await startService(ok);
  await post({ userId: undefined, channels: null });
  await post({ userId: null, channels: undefined });
  const [unknown, nobody] = requests.map(({ body }) => JSON.parse(body));
  expect(unknown).not.toHaveProperty('userId');
  for (const body of [unknown, nobody]) expect(body).not.toHaveProperty('channels');
  expect(nobody.userId).toBeNull();
});

test('a clock that is set back does not prolong the attempts', async () => {
  const { interactive, post, requests } = await startService(closeConnection);
  const hourMs = 60 * 60 * 1000;
  const clock = jest.spyOn(Date, 'now').mockReturnValueOnce(Date.now());
  clock.mockReturnValue(Date.now() - hourMs);
  try {
    expect(await errorOf(post({}, interactive()))).toMatchObject({ code: 'network_error' });
  } finally {
    clock.mockRestore();
  }
  expect(requests).toHaveLength(3);
});

test.each([
  ['unavailable', 503],
  ['rate_limited', 429],
])('interactive: the pause starts after the Retry-After of %s', async (code, status) => {
  const short = errorResponse(code, status, { 'retry-after': '3' });
  const { post, waits } = await startService(short, ok);
  await post();
  expect(waits).toHaveLength(1);
  expect(waits[0]).toBeGreaterThanOrEqual(3000 + 1500);
});

test.each([
  ['unavailable', 503],
  ['rate_limited', 429],
])('interactive: a Retry-After of %s that ends too late rejects at once', async (code, status) => {
  const long = errorResponse(code, status, { 'retry-after': '42' });
  const { post, requests } = await startService(long);
  const error = await errorOf(post());
  expect(error).toMatchObject({ code, status, retryAfter: 42, message: 'A message.' });
  expect(requests).toHaveLength(1);
});

test.each([
  ['subscriber_cap_reached', 403],
  ['project_not_found', 404],
])('%s is not retried', async (code, status) => {
  const { post, requests } = await startService(errorResponse(code, status));
  const error = await errorOf(post());
  expect(error).toMatchObject({ code, status, retryAfter: undefined, message: 'A message.' });
  expect(requests).toHaveLength(1);
});

test('the error has the issues of an invalid request', async () => {
  const issues = [{ path: 'userId', message: 'must be text of 1 to 256 characters' }];
  const { post } = await startService(
    jsonResponse(400, { error: { code: 'invalid_request', message: 'Wrong.', issues } }),
  );
  const error = await errorOf(post({ userId: '' }));
  expect(error).toMatchObject({ code: 'invalid_request', issues });
});

test.each([
  ['the page of a proxy', 503, '<html>'],
  ['an unknown path at the gateway', 404, { message: 'Not Found' }],
  ['the gateway of another API', 403, { message: 'Forbidden' }],
  ['an error in another format', 400, { error: 'invalid_request' }],
  ['a response of the gateway', 429, { message: 'Too Many Requests' }],
  ['null', 500, null],
])('%s is an unexpected response', async (_, status, body) => {
  const { post } = await startService((_request, response) => {
    response.statusCode = status;
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  const error = await errorOf(post());
  expect(error).toMatchObject({ code: 'unexpected_response', status });
});
