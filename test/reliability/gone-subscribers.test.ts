import { setTimeout as sleep } from 'node:timers/promises';
import type { SendResult } from '../../contract/schemas/notification.ts';
import { sendTimeline } from '../../contract/timeline.ts';
import { createBrowserKeys } from '../../local/push-service/browser-keys.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { readSubscribers, storeSubscribers } from './fixtures/stored-subscribers.ts';

let service: Service;
/** Time that DynamoDB takes for a transaction with deletions, in ms. */
let removalMs = 0;

beforeAll(async () => {
  service = await startService({
    async onDynamoDbCall({ operation, parameters }) {
      const isRemoval =
        operation === 'TransactWriteItems' && JSON.stringify(parameters).includes('"Delete"');
      if (isRemoval && removalMs > 0) await sleep(removalMs);
      return undefined;
    },
  });
});
afterAll(() => service.stop());
beforeEach(() => {
  removalMs = 0;
});

const keys = createBrowserKeys();

/** Creates a project with subscribers, some of them gone. */
async function projectWith(size: number, gone: number): Promise<ProjectCredentials> {
  const project = await service.createProject({ subscriberCap: null });
  const { applicationServerKey, projectId } = project;
  const browsers = Array.from({ length: size }, () =>
    service.stack.pushService.subscribe({ applicationServerKey, keys }),
  );
  await storeSubscribers(service.dynamo, service.stack.dynamodb.tables, projectId, browsers);
  for (const browser of browsers.slice(0, gone)) browser.unsubscribe();
  return project;
}

async function send(project: ProjectCredentials): Promise<SendResult> {
  const start = performance.now();
  const { status, body } = await service.send(project, { title: 'T' });
  expect(status).toBe(201);
  expect(performance.now() - start).toBeLessThan(sendTimeline.timeoutMs);
  expect(body.attempted).toBe(body.delivered + body.removed + body.failed);
  return body;
}

/** Expects that these subscribers are left, and counted. */
async function expectLeft({ projectId }: ProjectCredentials, left: number): Promise<void> {
  const { tables } = service.stack.dynamodb;
  expect(await readSubscribers(service.dynamo, tables, projectId)).toEqual({
    stored: left,
    counted: left,
  });
}

describe('a list with many gone subscribers is sent to in time, and they are removed', () => {
  const lists = [1000, 5000].flatMap((size) => [0.3, 1].map((ratio) => [size, size * ratio]));
  const cases = lists.map(([size = 0, gone = 0]) => ({ size, gone }));

  test.each(cases)('$gone of $size', async ({ size, gone }) => {
    const project = await projectWith(size, gone);
    const { unreached = 0, ...first } = await send(project);
    // A slow machine may not reach everyone; the next send does.
    expect(first.attempted + unreached).toBeGreaterThanOrEqual(size);
    await expectLeft(project, size - first.removed);
    const second = await send(project);
    expect(first.removed + second.removed).toBe(gone);
    expect(second).toMatchObject({ attempted: size - first.removed, failed: 0 });
    await expectLeft(project, size - gone);
  });
});

test('subscribers that a slow database does not remove in time count as failed, and the next send removes them', async () => {
  const gone = 8000;
  const project = await projectWith(gone, gone);
  // 20 transactions for each part, one after another, take more time than a send has.
  removalMs = 1500;
  const first = await send(project);
  expect(first.failed).toBeGreaterThan(0);
  expect(first.removed).toBeGreaterThan(0);
  expect(first).toMatchObject({ attempted: gone, delivered: 0 });
  removalMs = 0;
  const second = await send(project);
  expect(second).toMatchObject({ delivered: 0, failed: 0 });
  await expectLeft(project, 0);
});

test('a slow database removes the gone subscribers of all parts at the same time', async () => {
  const project = await projectWith(5000, 5000);
  // One after another, 100 transactions would take 40 s.
  removalMs = 400;
  expect(await send(project)).toMatchObject({ attempted: 5000, removed: 5000, failed: 0 });
  await expectLeft(project, 0);
});
