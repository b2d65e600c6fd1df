import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { delay } from '../../../local/push-service/behaviour.ts';
import { type PushService, startPushService } from '../../../local/push-service/push-service.ts';
import { push, pushRequest } from './sender.ts';

let pushService: PushService;

beforeEach(async () => {
  pushService = await startPushService();
});
afterEach(() => pushService.stop());

test('a status is returned with its headers and body, and nothing is delivered', async () => {
  const browser = pushService.subscribe();
  browser.behave({ status: 429, headers: { 'Retry-After': '7' }, body: 'slow down' });
  const response = await push(browser);
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toBe('7');
  expect(await response.text()).toBe('slow down');
  expect(browser.messages).toEqual([]);
});

test('a status with times: 2 applies to two pushes', async () => {
  const browser = pushService.subscribe();
  browser.behave({ status: 503, times: 2 });
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await push(browser)).status);
  expect(statuses).toEqual([503, 503, 201]);
  expect(pushService.stats()).toMatchObject({ accepted: 1, responses: { 503: 2, 201: 1 } });
});

test('an invalid push is refused and does not count against times', async () => {
  const browser = pushService.subscribe();
  browser.behave({ status: 503, times: 1 });
  const { endpoint } = pushRequest(browser, 'ding');
  expect((await fetch(endpoint, { method: 'POST' })).status).toBe(400);
  expect((await push(browser)).status).toBe(503);
});

test('a behaviour applies to one browser until it is reset', async () => {
  const [slow, other] = [pushService.subscribe(), pushService.subscribe()];
  slow.behave({ status: 500 });
  expect((await push(other)).status).toBe(201);
  expect((await push(slow)).status).toBe(500);
  slow.behave({});
  expect((await push(slow)).status).toBe(201);
});

test('a delayed push is accepted after the delay', async () => {
  const browser = pushService.subscribe();
  browser.behave({ delayMs: 50 });
  const start = performance.now();
  expect((await push(browser)).status).toBe(201);
  // Node's timers have a resolution of 1 ms and may fire up to 1 ms early.
  expect(performance.now() - start).toBeGreaterThan(48);
  expect(browser.messages).toHaveLength(1);
});

test('a delay ends with false as soon as the connection closes', async () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const elapsed = delay(60_000, response);
  response.emit('close');
  expect(await elapsed).toBe(false);
});

test('a push whose connection closes during the delay is not delivered', async () => {
  const browser = pushService.subscribe();
  browser.behave({ delayMs: 60_000 });
  const { endpoint, headers, body } = pushRequest(browser, 'ding');
  const abort = new AbortController();
  const pending = fetch(endpoint, { method: 'POST', headers, body, signal: abort.signal });
  await until(() => pushService.stats().inFlight === 1);
  abort.abort();
  await expect(pending).rejects.toThrow('aborted');
  await until(() => pushService.stats().inFlight === 0);
  expect(pushService.stats()).toMatchObject({ accepted: 0, withoutResponse: 1, responses: {} });
});

test('gone returns 410 for this and all later pushes', async () => {
  const browser = pushService.subscribe();
  browser.behave({ gone: true });
  expect((await push(browser)).status).toBe(410);
  browser.behave({});
  expect((await push(browser)).status).toBe(410);
});

test('reset closes the connection without a response', async () => {
  const browser = pushService.subscribe();
  browser.behave({ reset: true, times: 1 });
  await expect(push(browser)).rejects.toThrow('fetch failed');
  expect((await push(browser)).status).toBe(201);
  expect(pushService.stats()).toMatchObject({ requests: 2, accepted: 1, withoutResponse: 1 });
});

test('stall keeps the connection open without a response until the push service stops', async () => {
  const browser = pushService.subscribe();
  browser.behave({ stall: true });
  const outcome = push(browser).then(
    () => 'response',
    () => 'closed',
  );
  await until(() => pushService.stats().inFlight === 1);
  await pushService.stop();
  expect(await outcome).toBe('closed');
});

/** Checks the condition on every turn of the event loop until it holds. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}
