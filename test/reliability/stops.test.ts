import type { NotificationList, NotificationResult } from '../../contract/schemas/notification.ts';
import { sliceTimeline } from '../../contract/timeline.ts';
import type { DynamoDbHook } from '../../local/dynamodb/proxy.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';
import { throttled } from './fixtures/database-faults.ts';

/** With one push every 100 ms, everyone is pushed to after 10 s. */
const pushesPerSecond = 10;
const audience = 100;

let hook: DynamoDbHook | undefined;
let service: Service;
let project: ProjectCredentials;
let browsers: readonly SimulatedBrowser[];
/** Epoch ms of each push. */
let arrivedAt: number[];

beforeAll(async () => {
  service = await startService({
    environment: { PUSHES_PER_SECOND: String(pushesPerSecond) },
    onDynamoDbCall: (call) => hook?.(call),
    onLog: () => {},
  });
});
afterAll(() => service.stop());
beforeEach(async () => {
  hook = undefined;
  arrivedAt = [];
  project = await service.createProject({ subscriberCap: null });
  browsers = await Promise.all(Array.from({ length: audience }, () => service.subscribe(project)));
  for (const browser of browsers) {
    const deliver = browser.deliver.bind(browser);
    browser.deliver = (message) => {
      arrivedAt.push(Date.now());
      deliver(message);
    };
  }
});

/** The function that pushes cannot write its counts. */
const savesFail: DynamoDbHook = ({ caller, operation, parameters }) =>
  caller.startsWith('Send') &&
  operation === 'UpdateItem' &&
  parameters.TableName === service.stack.dynamodb.tables.DELIVERIES_TABLE
    ? throttled
    : undefined;

const somePushes = () => until('some pushes arrive', () => arrivedAt.length >= 3);
const waitUntil = (ms: number) => until('that time has passed', () => Date.now() > ms);

function stop(notificationId: string) {
  const parameters = { notificationId };
  return callWithValidRequest<NotificationResult>(service, project, 'stopNotification', {
    parameters,
  });
}

async function newestId(): Promise<string> {
  const query = '?limit=1';
  const { body } = await callWithValidRequest<NotificationList>(
    service,
    project,
    'listNotifications',
    { query },
  );
  return body.notifications[0]!.id;
}

const received = () => browsers.map(({ messages }) => messages.length);

describe('no push starts later than 5 s after the response of a stop', () => {
  test('while the function that pushes cannot write, and it counts everyone', async () => {
    const sending = service.send(project, { title: 'T' });
    await somePushes();
    const id = await newestId();
    hook = savesFail;
    expect((await stop(id)).body.status).toBe('stopping');
    const lastAt = Date.now() + sliceTimeline.lastPushAfterStopMs;
    await waitUntil(lastAt);
    const pushed = arrivedAt.length;
    hook = undefined;
    const { body } = await sending;
    expect(arrivedAt.filter((at) => at > lastAt)).toEqual([]);
    expect(body).toMatchObject({ status: 'stopped', attempted: pushed, delivered: pushed });
    expect(pushed).toBeLessThan(audience);
    expect(body.unreached).toBe(audience - pushed);
  });

  test('although the first stop failed, as soon as one succeeds', async () => {
    const sending = service.send(project, { title: 'T' });
    await somePushes();
    const id = await newestId();
    hook = ({ caller, operation, parameters }) =>
      caller.startsWith('StopNotification') &&
      operation === 'UpdateItem' &&
      parameters.TableName === service.stack.dynamodb.tables.DELIVERIES_TABLE
        ? throttled
        : undefined;
    expect((await stop(id)).status).toBe(503);
    hook = undefined;
    expect((await stop(id)).status).toBe(200);
    expect((await sending).body).toMatchObject({ status: 'stopped', failed: 0 });
  });
});

test('pushes pause while the counts cannot be written, and then reach everyone once', async () => {
  const sending = service.send(project, { title: 'T' });
  await somePushes();
  hook = savesFail;
  const failingAt = Date.now();
  await waitUntil(failingAt + sliceTimeline.knownForMs + 500);
  const pushed = arrivedAt.length;
  await waitUntil(failingAt + sliceTimeline.knownForMs + 1500);
  expect(arrivedAt).toHaveLength(pushed);
  expect(pushed).toBeLessThan(audience);
  hook = undefined;
  expect((await sending).body).toMatchObject({ attempted: audience, delivered: audience });
  expect(received()).toEqual(Array(audience).fill(1));
});
