import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { delay } from '../../../local/push-service/behaviour.ts';
import { type PushService, startPushService } from '../../../local/push-service/push-service.ts';
import { push, pushRequest } from './sender.ts';

let service: PushService;

beforeEach(async () => {
  service = await startPushService();
});
afterEach(() => service.stop());

test('a status is answered with its headers and body, and the browser gets nothing', async () => {
  const browser = service.subscribe();
  browser.behave({ status: 429, headers: { 'Retry-After': '7' }, body: 'slow down' });
  const response = await push(browser);
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toBe('7');
  expect(await response.text()).toBe('slow down');
  expect(browser.messages).toEqual([]);
});

test('a status for two times is followed by acceptance', async () => {
  const browser = service.subscribe();
  browser.behave({ status: 503, times: 2 });
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await push(browser)).status);
  expect(statuses).toEqual([503, 503, 201]);
  expect(service.stats()).toMatchObject({ accepted: 1, answers: { 503: 2, 201: 1 } });
});

test('a wrong push is refused for what it is, and uses up no time of a behaviour', async () => {
  const browser = service.subscribe();
  browser.behave({ status: 503, times: 1 });
  const { endpoint } = pushRequest(browser, 'ding');
  expect((await fetch(endpoint, { method: 'POST' })).status).toBe(400);
  expect((await push(browser)).status).toBe(503);
});

test('a behaviour concerns one browser, until it is taken back', async () => {
  const [slow, other] = [service.subscribe(), service.subscribe()];
  slow.behave({ status: 500 });
  expect((await push(other)).status).toBe(201);
  expect((await push(slow)).status).toBe(500);
  slow.behave({});
  expect((await push(slow)).status).toBe(201);
});

test('a delayed push is accepted, no sooner than its delay is over', async () => {
  const browser = service.subscribe();
  browser.behave({ delayMs: 50 });
  const start = performance.now();
  expect((await push(browser)).status).toBe(201);
  // Node's timers count whole milliseconds, and may fire within the last of them.
  expect(performance.now() - start).toBeGreaterThan(48);
  expect(browser.messages).toHaveLength(1);
});

test('a delay ends at once, and says so, when the connection closes', async () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const elapsed = delay(60_000, response);
  response.emit('close');
  expect(await elapsed).toBe(false);
});

test('a sender that hangs up during a delay leaves no message behind', async () => {
  const browser = service.subscribe();
  browser.behave({ delayMs: 60_000 });
  const { endpoint, headers, body } = pushRequest(browser, 'ding');
  const hangUp = new AbortController();
  const pending = fetch(endpoint, { method: 'POST', headers, body, signal: hangUp.signal });
  await until(() => service.stats().inFlight === 1);
  hangUp.abort();
  await expect(pending).rejects.toThrow('aborted');
  await until(() => service.stats().inFlight === 0);
  expect(service.stats()).toMatchObject({ accepted: 0, unanswered: 1, answers: {} });
});

test('gone is answered with 410, for good', async () => {
  const browser = service.subscribe();
  browser.behave({ gone: true });
  expect((await push(browser)).status).toBe(410);
  browser.behave({});
  expect((await push(browser)).status).toBe(410);
});

test('a reset ends the connection without an answer', async () => {
  const browser = service.subscribe();
  browser.behave({ reset: true, times: 1 });
  await expect(push(browser)).rejects.toThrow('fetch failed');
  expect((await push(browser)).status).toBe(201);
  expect(service.stats()).toMatchObject({ requests: 2, accepted: 1, unanswered: 1 });
});

test('a stalled push is never answered, until the service stops', async () => {
  const browser = service.subscribe();
  browser.behave({ stall: true });
  const outcome = push(browser).then(
    () => 'answered',
    () => 'ended',
  );
  await until(() => service.stats().inFlight === 1);
  await service.stop();
  expect(await outcome).toBe('ended');
});

/** Lets the event loop turn until something is so. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}
