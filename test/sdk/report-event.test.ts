import type { RequestListener } from 'node:http';
import { timing } from '../../sdk/common/timing.ts';
import { reportEvent, type StoredEvents } from '../../sdk/worker/report-event.ts';
import { until } from '../fixtures/until.ts';
import {
  closeConnection,
  jsonResponse,
  neverRespond,
  type ReceivedRequest,
  startRecordingService,
  stopServices,
} from './fixtures/recording-service.ts';

let origin: string;
let received: readonly ReceivedRequest[];

beforeEach(() => startService());
afterEach(stopServices);

/** Starts a service that sends these responses in turn, and then accepts every event. */
async function startService(...responses: readonly RequestListener[]): Promise<void> {
  const service = await startRecordingService([...responses, jsonResponse(200, {})]);
  ({ origin, requests: received } = service);
}

/** A browser with its storage, in virtual time. */
function startBrowser() {
  let events: StoredEvents = [];
  let time = Date.UTC(2026, 0);
  let elapsed = 0;
  const waits: number[] = [];
  const environment = {
    now: () => time,
    elapsed: () => elapsed,
    random: () => 0.5,
    wait: async (ms: number) => {
      waits.push(ms);
      time += ms;
      elapsed += ms;
    },
    update: async (change: (events: StoredEvents) => StoredEvents) => {
      events = change(events);
      return events;
    },
  };
  return {
    environment,
    waits,
    passTime: (ms: number) => {
      time += ms;
      elapsed += ms;
    },
    /** As a person, or the network, sets the clock. */
    setClock: (ms: number) => {
      time += ms;
    },
  };
}

const data = (id: string) => ({
  url: 'https://shop.example/',
  id,
  events: `${origin}/${id}/events?tally=3`,
});

test('an event is one request of the type text/plain to the URL as it is', async () => {
  const { environment, waits } = startBrowser();
  await reportEvent('clicked', data('a'), 0, environment);
  expect(received).toMatchObject([
    {
      method: 'POST',
      url: '/a/events?tally=3',
      headers: { 'content-type': 'text/plain;charset=UTF-8' },
      body: '{"type":"clicked"}',
    },
  ]);
  expect(waits).toEqual([]);
});

test('an event waits for a random part of its window', async () => {
  const { environment, waits } = startBrowser();
  await reportEvent('shown', data('a'), 20_000, { ...environment, random: () => 0.25 });
  expect(waits).toEqual([5000]);
  expect(received).toHaveLength(1);
});

test('each event of a notification is reported once', async () => {
  const { environment } = startBrowser();
  for (const type of ['shown', 'shown', 'clicked', 'clicked'] as const) {
    await reportEvent(type, data('a'), 0, environment);
  }
  expect(received.map(({ body }) => body)).toEqual(['{"type":"shown"}', '{"type":"clicked"}']);
});

test.each([
  ['a broken connection', closeConnection],
  ['429', jsonResponse(429, {})],
  ['500', jsonResponse(500, {})],
  ['503', jsonResponse(503, {})],
])('after %s the event is sent again after a pause', async (_, fail) => {
  const { environment, waits } = startBrowser();
  await startService(fail, fail);
  await reportEvent('shown', data('a'), 0, environment);
  expect(waits).toEqual([7500, 22_500]);
  expect(received).toHaveLength(3);
});

test('the pause starts after Retry-After', async () => {
  const { environment, waits } = startBrowser();
  await startService(jsonResponse(429, {}, { 'retry-after': '20' }));
  await reportEvent('shown', data('a'), 0, environment);
  expect(waits).toEqual([27_500]);
  expect(received).toHaveLength(2);
});

test.each([400, 404, 413])('a response of %i is final', async (code) => {
  const { environment, passTime } = startBrowser();
  await startService(jsonResponse(code, {}));
  await reportEvent('shown', data('a'), 0, environment);
  passTime(24 * 60 * 60 * 1000);
  await reportEvent('shown', data('b'), 0, environment);
  expect(received.map(({ url }) => url)).toEqual(['/a/events?tally=3', '/b/events?tally=3']);
});

test('an event that failed for 45 s is sent with the next event after its pause', async () => {
  const { environment, passTime } = startBrowser();
  await startService(closeConnection, closeConnection, closeConnection);
  await reportEvent('shown', data('a'), 0, environment);
  expect(received).toHaveLength(3);
  await reportEvent('shown', data('b'), 0, environment);
  expect(received.slice(3).map(({ url }) => url)).toEqual(['/b/events?tally=3']);
  passTime(67_500);
  await reportEvent('clicked', data('b'), 0, environment);
  const urls = received.slice(4).map(({ url }) => url);
  expect(urls.sort()).toEqual(['/a/events?tally=3', '/b/events?tally=3']);
});

test('an event whose worker is stopped in the window is sent with the next event', async () => {
  const { environment, passTime } = startBrowser();
  await new Promise<void>((stop) => {
    const wait = () => new Promise(() => stop());
    reportEvent('shown', data('a'), 20_000, { ...environment, wait });
  });
  expect(received).toEqual([]);
  passTime(60_000);
  await reportEvent('shown', data('b'), 0, environment);
  const urls = received.map(({ url }) => url);
  expect(urls.sort()).toEqual(['/a/events?tally=3', '/b/events?tally=3']);
});

test('an event whose worker is stopped during the request is sent again after 20 s', async () => {
  const { environment, waits, passTime } = startBrowser();
  const wait = () => new Promise(() => {});
  await startService(neverRespond);
  reportEvent('shown', data('a'), 0, { ...environment, wait });
  await until('the request', () => received.length > 0);
  passTime(19_000);
  await reportEvent('shown', data('b'), 0, environment);
  expect(waits).toEqual([1000]);
  const urls = received.map(({ url }) => url);
  expect(urls).toEqual(['/a/events?tally=3', '/b/events?tally=3', '/a/events?tally=3']);
});

test.each([
  ['an event that waits for its window', 20_000, []],
  ['an event that waits after a failure', 0, [closeConnection]],
])('%s is sent after the clock was set back', async (_, windowMs, responses) => {
  const { environment, setClock } = startBrowser();
  await startService(...responses);
  const stop = new Promise<void>((resolve) => {
    const wait = () => new Promise(() => resolve());
    reportEvent('shown', data('a'), windowMs, { ...environment, wait });
  });
  await stop;
  const before = received.length;
  setClock(-5 * 365 * 24 * 60 * 60 * 1000);
  await reportEvent('shown', data('b'), 0, environment);
  const urls = received.slice(before).map(({ url }) => url);
  expect(urls.sort()).toEqual(['/a/events?tally=3', '/b/events?tally=3']);
});

test('a clock that is set back does not prolong the attempts of a run', async () => {
  const { environment, waits, setClock } = startBrowser();
  await startService(...Array.from({ length: 20 }, () => closeConnection));
  const wait = async (ms: number) => {
    await environment.wait(ms);
    setClock(-60 * 60 * 1000);
  };
  await reportEvent('shown', data('a'), 0, { ...environment, wait });
  expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(45_000);
});

test('events at the same time are sent once each', async () => {
  // Real time, because a claim must outlast its request. Short waits end each call soon after the last event.
  const wait = (ms: number) => timing.wait(Math.min(ms, 20));
  const environment = { ...startBrowser().environment, ...timing, wait };
  const ids = Array.from({ length: 20 }, (_, index) => `n${index}`);
  await Promise.all(ids.map((id) => reportEvent('shown', data(id), 500, environment)));
  expect(received.map(({ url }) => url).sort()).toEqual(
    ids.map((id) => `/${id}/events?tally=3`).sort(),
  );
});

test('a malformed URL is not tried again and delays no other event', async () => {
  const { environment, waits } = startBrowser();
  const malformed = { ...data('a'), events: 'http://[' };
  await reportEvent('shown', malformed, 0, environment);
  await reportEvent('shown', data('b'), 0, environment);
  expect(received.map(({ url }) => url)).toEqual(['/b/events?tally=3']);
  expect(waits).toEqual([]);
});

test('without storage an event is sent and retried while the worker runs', async () => {
  // Node.js has no IndexedDB, and its types are missing here: therefore no import by name.
  const module: string = '../../sdk/worker/report-event.ts';
  const { updateEvents } = await import(module);
  const { environment } = startBrowser();
  await startService(jsonResponse(503, {}));
  const withoutStorage = { ...environment, update: updateEvents };
  await reportEvent('shown', data('a'), 1000, withoutStorage);
  await reportEvent('shown', data('a'), 0, withoutStorage);
  expect(received).toHaveLength(2);
});

test('of many events the last 256 are stored', async () => {
  const { environment } = startBrowser();
  let stored: StoredEvents = [];
  const counting = {
    ...environment,
    update: async (change: (events: StoredEvents) => StoredEvents) => {
      stored = await environment.update(change);
      return stored;
    },
  };
  for (let index = 0; index < 257; index++) {
    await reportEvent('shown', data(`n${index}`), 0, counting);
  }
  expect(stored).toHaveLength(256);
  expect(stored[0]!.key).toBe('shown n1');
});
