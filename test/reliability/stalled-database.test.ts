import { setTimeout as sleep } from 'node:timers/promises';
import {
  TransactWriteItemsCommand,
  type TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb';
import { routes } from '../../contract/routes.ts';
import type { DynamoDbCall, DynamoDbHook } from '../../local/dynamodb/proxy.ts';
import { localClient } from '../../local/dynamodb/tables.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

let hook: DynamoDbHook | undefined;
let service: Service;
let project: ProjectCredentials;

beforeAll(async () => {
  service = await startService({ onDynamoDbCall: (call) => hook?.(call), onLog: () => {} });
});
afterAll(() => service.stop());
beforeEach(async () => {
  hook = undefined;
  project = await service.createProject();
});

const key = { 'idempotency-key': 'order-1' };

const hasPut = ({ operation, parameters }: DynamoDbCall): boolean =>
  operation === 'TransactWriteItems' &&
  (parameters.TransactItems as object[]).some((item) => 'Put' in item);

/** Transactions that get no response, and that the database executes later. */
class DelayedTransactions {
  readonly #calls: DynamoDbCall[] = [];

  readonly hold = (call: DynamoDbCall) => {
    this.#calls.push(call);
    return 'no response' as const;
  };

  /** @returns the name of each error. */
  async execute(): Promise<string[]> {
    const client = localClient(service.stack.dynamodb.endpoint);
    const errors: string[] = [];
    for (const { parameters } of this.#calls) {
      const input = parameters as unknown as TransactWriteItemsCommandInput;
      await client
        .send(new TransactWriteItemsCommand(input))
        .catch(({ name }) => errors.push(name));
    }
    client.destroy();
    return errors;
  }
}

describe('a send is completed or cancelled even if the database responds too late', () => {
  test('a write that arrives after the cancellation of its send fails', async () => {
    const browser = await service.subscribe(project);
    const delayed = new DelayedTransactions();
    let writes = 0;
    // The SDK tries three times; the fourth write with a Put is the cancellation.
    hook = (call) => (hasPut(call) && ++writes <= 3 ? delayed.hold(call) : undefined);
    const failed = await service.send(project, { title: 'T' }, key);
    expect(failed.status).toBe(503);
    expect(await delayed.execute()).toEqual(Array(3).fill('TransactionCanceledException'));
    hook = undefined;
    const repeated = await service.send(project, { title: 'T' }, key);
    expect(repeated.status).toBe(201);
    expect(repeated.body).toMatchObject({ attempted: 1, delivered: 1 });
    expect(browser.messages).toHaveLength(1);
    expect(await service.usage(project.projectId)).toMatchObject({ sends: 1 });
  });

  test('a send that could not be cancelled is delivered by its repetition with the same unit', async () => {
    const browser = await service.subscribe(project);
    const delayed = new DelayedTransactions();
    let transactions = 0;
    // The database executes the send's first write later, and never receives the cancellation.
    hook = (call) => {
      if (call.operation !== 'TransactWriteItems') return undefined;
      transactions += 1;
      return transactions <= 3 ? delayed.hold(call) : 'lost request';
    };
    const failed = await service.send(project, { title: 'T' }, key);
    expect(failed.status).toBe(503);
    hook = undefined;
    expect(await delayed.execute()).toEqual([]);
    expect(await service.usage(project.projectId)).toMatchObject({ sends: 1 });

    // As long as the first request's function may run, it may deliver the notification or cancel it.
    const early = await service.send(project, { title: 'T' }, key);
    expect(early.status).toBe(409);
    const repeated = await until('the first request is over', async () => {
      const response = await service.send(project, { title: 'T' }, key);
      return response.status === 409 ? undefined : response;
    });
    expect(repeated.status).toBe(201);
    expect(repeated.body).toMatchObject({ attempted: 1, delivered: 1 });
    expect(browser.messages).toHaveLength(1);
    expect(await service.usage(project.projectId)).toMatchObject({ sends: 1 });
    // The response of the repetition is stored for further repetitions.
    const again = await service.send(project, { title: 'T' }, key);
    expect(again.body).toEqual(repeated.body);
  });
});

describe('a send returns its counts in time if the database stalls', () => {
  test('while it reads the project, and a push service never responds', async () => {
    const [reached, stalled] = [await service.subscribe(project), await service.subscribe(project)];
    stalled.behave({ stall: true });
    let reads = 0;
    // Two attempts to read get no response, and the third a late one: 5 s in total.
    hook = async ({ operation }) => {
      if (operation !== 'TransactGetItems') return undefined;
      reads += 1;
      if (reads <= 2) return 'no response';
      return sleep(1000, undefined);
    };
    const { status, body } = await service.send(project, { title: 'T' }, key);
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { attempted: 2, delivered: 1, failed: 1 },
    });
    expect(reached.messages).toHaveLength(1);
  });

  test('while it removes gone subscriptions', async () => {
    // Seven batches; each takes 6 s if it gets no response.
    const gone = await Promise.all(Array.from({ length: 350 }, () => service.subscribe(project)));
    for (const browser of gone) browser.unsubscribe();
    let transactions = 0;
    // The first write of the send and the first removal succeed.
    hook = ({ operation }) => {
      if (operation === 'TransactWriteItems') transactions += 1;
      return transactions > 2 ? 'no response' : undefined;
    };
    const { status, body } = await service.send(project, { title: 'T' }, key);
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { attempted: 350, delivered: 0, removed: 50, failed: 300 },
    });
    hook = undefined;
    const { body: next } = await service.send(project, { title: 'U' });
    expect(next).toMatchObject({ attempted: 300, removed: 300 });
  });
});

test('the removal of a user ends in time if the database stalls, and its repetition completes it', async () => {
  // Seven batches; each takes 1.5 s.
  await Promise.all(Array.from({ length: 350 }, () => service.subscribe(project, 'ada')));
  await service.subscribe(project, 'bob');
  const subscribers = async () => (await service.usage(project.projectId)).subscribers;
  const remove = () =>
    service.call<unknown>(routes.removeUser, {
      parameters: { projectId: project.projectId },
      headers: { authorization: `Bearer ${project.secretKey}` },
      query: '?userId=ada',
    });
  hook = async ({ operation }) =>
    operation === 'TransactWriteItems' ? sleep(1500, undefined) : undefined;
  const { status, headers } = await remove();
  expect({ status, retryAfter: headers.get('retry-after') }).toEqual({
    status: 503,
    retryAfter: '1',
  });
  const left = await subscribers();
  expect(left).toBeGreaterThan(1);
  expect(left).toBeLessThan(351);
  hook = undefined;
  expect((await remove()).status).toBe(200);
  expect(await subscribers()).toBe(1);
});
