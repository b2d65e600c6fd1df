import type { DynamoDbCall, DynamoDbHook } from '../../local/dynamodb/proxy.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { readsAudience, throttled } from './fixtures/database-faults.ts';
import { readProjectItems } from './fixtures/project-items.ts';

/** The faults of the current test; undefined for none. */
let hook: DynamoDbHook | undefined;
let service: Service;
let project: ProjectCredentials;

beforeAll(async () => {
  service = await startService({ onDynamoDbCall: (call) => hook?.(call), onLog: () => {} });
});
afterAll(() => service.stop());

const usage = () => service.usage(project.projectId);
const readItems = () =>
  readProjectItems(service.dynamo, service.stack.dynamodb.tables, project.projectId);

describe('a send that the database interrupts returns what it delivered', () => {
  const many = 100;

  beforeEach(async () => {
    hook = undefined;
    project = await service.createProject({ subscriberCap: null });
  });

  test('a throttled read of one part is retried, and each subscriber gets one push', async () => {
    const browsers = await subscribeMany(many);
    let reads = 0;
    hook = (call) => {
      if (!readsAudience(call)) return undefined;
      reads += 1;
      return reads === 2 ? throttled : undefined;
    };
    const { body } = await service.send(project, { title: 'T' });
    expect(body).toMatchObject({ attempted: many, delivered: many });
    expect(browsers.every(({ messages }) => messages.length === 1)).toBe(true);
  });

  test('a send that cannot read one part pushes to nobody and returns its unit', async () => {
    const browsers = await subscribeMany(many);
    let reads = 0;
    hook = (call) => {
      if (!readsAudience(call)) return undefined;
      reads += 1;
      return reads === 1 ? undefined : throttled;
    };
    expect((await service.send(project, { title: 'T' })).status).toBe(503);
    expect(browsers.every(({ messages }) => messages.length === 0)).toBe(true);
    expect(await usage()).toMatchObject({ sends: 0 });
  });

  test('counts that cannot be stored are still returned', async () => {
    await service.subscribe(project);
    let updates = 0;
    // The first update of the tally claims the share; the later ones store counts.
    const isCounts = ({ operation, requiredGrants }: DynamoDbCall) =>
      operation === 'UpdateItem' &&
      requiredGrants.some(({ resource }) => resource.includes('Tallies')) &&
      ++updates > 1;
    hook = (call) => (isCounts(call) ? throttled : undefined);
    const { status, body } = await service.send(project, { title: 'T' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ attempted: 1, delivered: 1 });
    const { tallies } = await readItems();
    expect([...tallies.values()]).toMatchObject([{ attempted: 0, pending: 1 }]);
  });

  test('a gone subscription that cannot be deleted counts as failed and is removed by the next send', async () => {
    const browser = await service.subscribe(project);
    browser.unsubscribe();
    let transactions = 0;
    hook = ({ operation }) => {
      if (operation !== 'TransactWriteItems') return undefined;
      transactions += 1;
      return transactions > 1 ? throttled : undefined;
    };
    const first = await service.send(project, { title: 'T' });
    expect(first.body).toMatchObject({ attempted: 1, removed: 0, failed: 1 });
    expect(await usage()).toMatchObject({ subscribers: 1 });
    hook = undefined;
    const { body } = await service.send(project, { title: 'T' });
    expect(body).toMatchObject({ attempted: 1, removed: 1, failed: 0 });
    expect(await usage()).toMatchObject({ subscribers: 0 });
  });
});

/** Subscribes 50 browsers at a time. */
async function subscribeMany(count: number): Promise<SimulatedBrowser[]> {
  const browsers: SimulatedBrowser[] = [];
  while (browsers.length < count) {
    const batch = Array.from({ length: Math.min(50, count - browsers.length) }, () =>
      service.subscribe(project),
    );
    browsers.push(...(await Promise.all(batch)));
  }
  return browsers;
}
