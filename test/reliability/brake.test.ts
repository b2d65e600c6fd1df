import { setTimeout as sleep } from 'node:timers/promises';
import { createBrowserKeys } from '../../admin/browser.ts';
import { sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { type ServiceOperator, startServiceOperator } from '../fixtures/service-operator.ts';
import { storeSubscribers } from '../fixtures/stored-subscribers.ts';
import { until } from '../fixtures/until.ts';

const subscribers = 10_000;
/** Time from the first push to the complaint. */
const noticedAfterMs = 3000;

let operator: ServiceOperator;

beforeAll(async () => {
  operator = await startServiceOperator();
});
afterAll(() => operator.stop());

describe('a broadcast to 10,000 at a slow push service is stopped without a key, and its counts are exact', () => {
  test.each([
    ['a caller waits', {}],
    ['nobody waits', { prefer: 'respond-async' }],
  ])('%s', async (_, headers) => {
    const { service } = operator;
    const project = await service.createProject();
    const { applicationServerKey, projectId } = project;
    const { pushService, dynamodb } = service.stack;
    const keys = createBrowserKeys();
    const arrivedAt: number[] = [];
    const browsers = Array.from({ length: subscribers }, () => {
      const browser = pushService.subscribe({ applicationServerKey, keys });
      browser.behave({ delayMs: 1000 });
      const deliver = browser.deliver.bind(browser);
      browser.deliver = (message) => {
        arrivedAt.push(Date.now());
        deliver(message);
      };
      return browser;
    });
    await storeSubscribers(service.dynamo, dynamodb.tables, project, browsers);

    const sending = service.send(project, { title: 'Wrong' }, headers);
    await until('the first push', () => arrivedAt.length > 0);
    await sleep(noticedAfterMs);
    const calledAt = Date.now();
    const { output } = await operator.run([
      'notifications',
      'stop',
      projectId,
      '--running',
      '--json',
    ]);
    await sending;

    const [stopped] = JSON.parse(output).notifications;
    const delivered = arrivedAt.length;
    expect(delivered).toBeLessThan(subscribers);
    expect(stopped).toMatchObject({
      ...{ status: 'stopped', attempted: delivered, delivered, removed: 0, failed: 0 },
      unreached: subscribers - delivered,
    });
    expect(new Set(browsers.map(({ messages }) => messages.length))).toEqual(new Set([0, 1]));
    // A push that started then takes a second at this push service. The command needs some time before it stops.
    const lastMs = Math.max(...arrivedAt) - calledAt;
    expect(lastMs).toBeLessThan(sliceTimeline.lastPushAfterStopMs + 2000);
  });
});
