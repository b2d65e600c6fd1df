import { setTimeout as sleep } from 'node:timers/promises';
import {
  TransactWriteItemsCommand,
  type TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDbCall, DynamoDbHook } from '../../local/dynamodb/proxy.ts';
import { localClient } from '../../local/dynamodb/tables.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';

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

const puts = ({ operation, parameters }: DynamoDbCall): boolean =>
  operation === 'TransactWriteItems' &&
  (parameters.TransactItems as object[]).some((item) => 'Put' in item);

/** Calls without an answer, which the database does all the same, later. */
class LateCalls {
  readonly #calls: DynamoDbCall[] = [];

  readonly hold = (call: DynamoDbCall) => {
    this.#calls.push(call);
    return 'no response' as const;
  };

  /** Does them. @returns the names of the errors, one for each call that failed. */
  async happen(): Promise<string[]> {
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

describe('a send is done or undone, even where the database answers too late to tell its caller', () => {
  test('a write that comes after its send was cancelled does not happen', async () => {
    const browser = await service.subscribe(project);
    const late = new LateCalls();
    let puttings = 0;
    // The SDK tries three times; the fourth write with a Put is the cancellation's.
    hook = (call) => (puts(call) && ++puttings <= 3 ? late.hold(call) : undefined);
    const failed = await service.send(project, { title: 'T' }, key);
    expect(failed.status).toBe(503);
    expect(await late.happen()).toEqual(Array(3).fill('TransactionCanceledException'));
    hook = undefined;
    const repeated = await service.send(project, { title: 'T' }, key);
    expect(repeated.status).toBe(201);
    expect(repeated.body).toMatchObject({ attempted: 1, delivered: 1 });
    expect(browser.messages).toHaveLength(1);
    expect(await service.usage(project.projectId)).toMatchObject({ sends: 1 });
  });

  test('a send that could not be cancelled is delivered by its repetition, under the same unit', async () => {
    const browser = await service.subscribe(project);
    const late = new LateCalls();
    let transactions = 0;
    // All of the begin happens later; the cancellation never gets through.
    hook = (call) => {
      if (call.operation !== 'TransactWriteItems') return undefined;
      transactions += 1;
      return transactions <= 3 ? late.hold(call) : 'lost request';
    };
    const failed = await service.send(project, { title: 'T' }, key);
    expect(failed.status).toBe(503);
    hook = undefined;
    expect(await late.happen()).toEqual([]);
    expect(await service.usage(project.projectId)).toMatchObject({ sends: 1 });

    const repeated = await service.send(project, { title: 'T' }, key);
    expect(repeated.status).toBe(201);
    expect(repeated.body).toMatchObject({ attempted: 1, delivered: 1 });
    expect(browser.messages).toHaveLength(1);
    expect(await service.usage(project.projectId)).toMatchObject({ sends: 1 });
    // And it has a response of its own now, for whoever repeats it again.
    const again = await service.send(project, { title: 'T' }, key);
    expect(again.body).toEqual(repeated.body);
  });
});

describe('a send answers in time with its counts, wherever the database stalls', () => {
  /** Milliseconds. */
  const stall = (ms: number) => sleep(ms, undefined);

  test('before it began, beside a push service that never answers', async () => {
    const [reached, stalled] = [await service.subscribe(project), await service.subscribe(project)];
    stalled.behave({ stall: true });
    let lookups = 0;
    // Two attempts of the look-up get no answer, and the third a late one: 5 s in all.
    hook = async ({ operation }) => {
      if (operation !== 'TransactGetItems') return undefined;
      lookups += 1;
      if (lookups <= 2) return 'no response';
      return stall(1000);
    };
    const { status, body } = await service.send(project, { title: 'T' }, key);
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { attempted: 2, delivered: 1, failed: 1 },
    });
    expect(reached.messages).toHaveLength(1);
  });

  test('while it removes the gone', async () => {
    // Seven batches, of which each that gets no answer takes 6 s.
    const gone = await Promise.all(Array.from({ length: 350 }, () => service.subscribe(project)));
    for (const browser of gone) browser.unsubscribe();
    let transactions = 0;
    // The begin goes through, and so does the first removal.
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
