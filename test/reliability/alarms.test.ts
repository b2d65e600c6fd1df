import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { routes } from '../../contract/routes.ts';
import { tallyKey } from '../../lambdas/store/items.ts';
import type { DynamoDbCall, DynamoDbHook } from '../../local/dynamodb/proxy.ts';
import { cancelledTransaction, errorResponse } from '../../local/dynamodb/response.ts';
import type { Behaviour } from '../../local/push-service/behaviour.ts';
import type { Template } from '../../local/template/template.ts';
import { measured } from '../fixtures/measured-stack.ts';
import { RecordedMetrics } from '../fixtures/recorded-metrics.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { synthesize } from '../fixtures/synthesized-stack.ts';
import { templateAlarms } from '../fixtures/template-alarms.ts';
import { until } from '../fixtures/until.ts';
import { exceeded, throttled } from './fixtures/database-faults.ts';
import {
  type HoldingPushService,
  startHoldingPushService,
} from './fixtures/holding-push-service.ts';
import { storeSubscribers } from './fixtures/stored-subscribers.ts';

/** Executions that the account of these tests may run at once: those of two functions. */
const instances = 8;
const accountConcurrency = 2 * instances;

const template = synthesize({ accountConcurrency }).template.toJSON() as Template;
const alarms = templateAlarms(template);
const metrics = new RecordedMetrics();

let hook: DynamoDbHook | undefined;
let holding: HoldingPushService;
let service: Service;
let project: ProjectCredentials;

beforeAll(async () => {
  holding = await startHoldingPushService();
  service = await startService(
    measured(template, metrics, {
      accountConcurrency,
      concurrency: instances,
      retryDelaysMs: [0, 0],
      environment: { EXTRA_PUSH_ORIGINS: holding.origin },
      onDynamoDbCall: (call) => hook?.(call),
      onLog: () => {},
    }),
  );
});
afterAll(async () => {
  holding.release();
  await service.stop();
  await holding.stop();
});
beforeEach(async () => {
  hook = undefined;
  metrics.clear();
  project = await service.createProject({ subscriberCap: null, rateLimitPerMinute: null });
});

const failing = errorResponse('ValidationException', 'A fault.');
const isOn = (table: string, { requiredGrants }: DynamoDbCall) =>
  requiredGrants.some(({ resource }) => resource.includes(`table/${table}`));
const pool = (name: string) => [...service.stack.functions].find(([id]) => id.startsWith(name))![1];

/** Calls that often, from as many clients as one function has instances. */
async function times(number: number, call: () => Promise<unknown>): Promise<void> {
  const calls = Array.from({ length: number }).values();
  const client = async () => {
    for (const _ of calls) await call();
  };
  await Promise.all(Array.from({ length: instances }, client));
}

function unsubscribe(): Promise<unknown> {
  const { projectId } = project;
  return service.call(routes.unsubscribe, {
    parameters: { projectId },
    query: '?endpoint=https://x',
  });
}

function track(): Promise<unknown> {
  const parameters = { ...project, notificationId: randomUUID() };
  return service.call(routes.track, { parameters, body: { type: 'shown' } });
}

/** Sends without waiting for the delivery. */
function sendAsync() {
  return service.send(project, { title: 'T' }, { prefer: 'respond-async' });
}

async function subscribeMany(number: number, behaviour: Behaviour): Promise<void> {
  await times(number, async () => (await service.subscribe(project)).behave(behaviour));
}

/** A fault of the local stack for each alarm. It lasts for one period. */
const faults: Readonly<Record<string, () => Promise<unknown>>> = {
  async ServerErrors() {
    hook = () => failing;
    await times(5, unsubscribe);
  },
  async SendErrors() {
    hook = (call) => (isOn('Usage', call) ? failing : undefined);
    await times(3, () => service.send(project, { title: 'T' }));
  },
  SendLatency: sendToStalled,
  async FailedPushes() {
    await subscribeMany(50, { status: 503 });
    await service.send(project, { title: 'T' });
  },
  async VapidRefusals() {
    await subscribeMany(10, { status: 403 });
    await service.send(project, { title: 'T' });
  },
  UnreachedSubscribers: sendToStalled,
  async InterruptedPushes() {
    await subscribeMany(1, { stall: true });
    const id = await deliverDies();
    await until('the share is delivered again', async () => {
      const headers = { authorization: `Bearer ${project.secretKey}` };
      const parameters = { ...project, notificationId: id };
      const { body } = await service.call<{ status: string }>(routes.getNotification, {
        parameters,
        headers,
      });
      return body.status === 'sent';
    });
  },
  async ResultsNotStored() {
    await service.subscribe(project);
    let updates = 0;
    // The first update of the tally claims the share; the later ones store counts.
    hook = (call) =>
      call.operation === 'UpdateItem' && isOn('Tallies', call) && ++updates > 1
        ? throttled
        : undefined;
    await service.send(project, { title: 'T' });
  },
  async CrashedDeliveries() {
    await subscribeMany(1, { stall: true });
    const { requests } = service.stack.pushService.stats();
    const sending = service.send(project, { title: 'T' });
    await until('a push has begun', () => service.stack.pushService.stats().requests > requests);
    await pool('Send').kill();
    expect((await sending).status).toBe(500);
  },
  async SlowFunctions() {
    const attempts = new Map<string, number>();
    // Each call gets a response at its third attempt, after 4 s.
    hook = ({ operation }) => {
      const attempt = (attempts.get(operation) ?? 0) + 1;
      attempts.set(operation, attempt);
      return attempt % 3 === 0 ? undefined : 'no response';
    };
    await service.call(routes.unsubscribe, {
      parameters: { ...(await service.createProject()) },
      query: '?endpoint=https://x',
    });
  },
  async ThrottledFunctions() {
    const release = await holdRequests();
    await unsubscribe();
    await release();
  },
  async AccountConcurrency() {
    const release = await holdRequests();
    await release();
  },
  async DroppedInvocations() {
    hook = ({ caller }) => (caller.startsWith('Deliver') ? failing : undefined);
    const { status } = await sendAsync();
    expect(status).toBe(202);
    const dropped = alarms.find(({ id }) => id === 'DroppedInvocations')!.metrics;
    await until('Lambda drops the invocation', () =>
      dropped.every((metric) => metrics.has(metric)),
    );
  },
  async DatabaseThrottles() {
    await service.subscribe(project, 'ada');
    const { body } = await service.send(project, { title: 'T' });
    // Every kind of call is throttled twice, which is less often than the client tries.
    const seen = new Map<string, number>();
    hook = ({ caller, operation, requiredGrants }) => {
      const kind = `${caller} ${operation} ${requiredGrants.map(({ resource }) => resource)}`;
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
      return seen.get(kind)! <= 2 ? exceeded : undefined;
    };
    const headers = { authorization: `Bearer ${project.secretKey}` };
    const parameters = { ...project, notificationId: body.id };
    await service.subscribe(await service.createProject(), 'ada');
    await service.send(project, { title: 'T', userIds: ['ada'] });
    await service.send(project, { title: 'T' });
    await service.call(routes.track, { parameters, body: { type: 'shown' } });
    await service.call(routes.getNotification, { parameters, headers });
  },
  async TransactionConflicts() {
    hook = ({ operation, parameters }) => {
      if (operation !== 'TransactWriteItems') return undefined;
      const items = (parameters.TransactItems as object[]).map((item) => JSON.stringify(item));
      const isCounter = (item: string) => item.includes('"TableName":"Usage');
      return cancelledTransaction(
        items.map((item) => (isCounter(item) ? 'TransactionConflict' : 'None')),
      );
    };
    await times(10, () => service.subscribe(project).catch(() => {}));
  },
};

/** Sends to a push service that does not respond. More subscribers than may be in flight to it. */
async function sendToStalled(): Promise<void> {
  const { keys } = service.stack.pushService.subscribe(project).toJSON();
  const endpoints = Array.from({ length: 500 }, (_, index) => `${holding.origin}/${index}`);
  await storeSubscribers(
    service.dynamo,
    service.stack.dynamodb.tables,
    project.projectId,
    endpoints.map((endpoint) => ({ toJSON: () => ({ endpoint, keys, expirationTime: null }) })),
  );
  holding.hold();
  await service.send(project, { title: 'T' });
  holding.release();
}

/** The deliver function dies during a push. @returns the notification's id. */
async function deliverDies(): Promise<string> {
  const { requests } = service.stack.pushService.stats();
  const { body } = await sendAsync();
  await until('a push has begun', () => service.stack.pushService.stats().requests > requests);
  // The retry of Lambda comes when the time of the first attempt is over. Here it comes at once.
  await service.dynamo.send(
    new UpdateCommand({
      TableName: service.stack.dynamodb.tables.TALLIES_TABLE,
      Key: { tally: tallyKey(body.id, 0) },
      UpdateExpression: 'SET claimedUntil = :past',
      ExpressionAttributeValues: { ':past': 0 },
    }),
  );
  await pool('Deliver').kill();
  return body.id;
}

/**
 * Starts as many requests as may run, whose calls to the database wait.
 * @returns lets them continue, and waits for their end.
 */
async function holdRequests(): Promise<() => Promise<void>> {
  const held = new EventEmitter().setMaxListeners(0);
  let running = 0;
  hook = async () => {
    running += 1;
    await once(held, 'release');
    return undefined;
  };
  const requests = [...Array(instances)].flatMap(() => [unsubscribe(), track()]);
  await until('all requests are running', () => running >= accountConcurrency);
  return async () => {
    hook = undefined;
    held.emit('release');
    await Promise.all(requests);
  };
}

test('no alarm fires while nothing is wrong', async () => {
  const browser = await service.subscribe(project, 'ada');
  await service.send(project, { title: 'T' });
  await browser.show();
  await service.send(project, { title: 'T', userIds: ['ada'] });
  await sendAsync();
  await unsubscribe();
  await until('deliver has pushed', () => browser.messages.length === 3);
  expect(alarms.filter((alarm) => alarm.isFiring(metrics)).map(({ id }) => id)).toEqual([]);
});

describe('every alarm fires on its fault, by metrics that the local stack emits', () => {
  test('there is a fault for each alarm', () => {
    expect(Object.keys(faults).sort()).toEqual(alarms.map(({ id }) => id).sort());
  });

  test.each(alarms)('$id', async (alarm) => {
    for (let period = 0; period < alarm.badPeriods; period += 1) {
      if (period > 0) metrics.nextPeriod();
      expect(alarm.isFiring(metrics)).toBe(false);
      await faults[alarm.id]!();
      hook = undefined;
    }
    expect(alarm.isFiring(metrics)).toBe(true);
    // An alarm on several functions fires by one of them; the others must exist.
    const missing = alarm.metrics.filter((metric) => !metrics.has(metric));
    const functions = missing.map(({ dimensions }) => dimensions.FunctionName!);
    expect(functions.filter((name) => !service.stack.functions.has(name))).toEqual([]);
  });
});
