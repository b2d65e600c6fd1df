import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../../contract/wire/errors.ts';
import { browserConflictRetries, sendRepeatedly } from '../../lambdas/store/dynamo.ts';
import { deviceIdOf, partOf } from '../../lambdas/store/items.ts';
import { type SubscriptionStore, subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { clientWith } from '../fixtures/client-with.ts';
import { knownProject } from '../fixtures/known-project.ts';
import { endpoint, subscription } from '../fixtures/subscription.ts';
import { Random } from '../simulation/time/random.ts';
import { Scheduler } from '../simulation/time/scheduler.ts';

/** The throttle of the routes, and seconds of a flood that uses it up. */
const perSecond = 500;
const seconds = 5;
/** Ms for which DynamoDB locks the items of a transaction: 6 to 10 have been reported. */
const lockMs = 8;
/** Ms of a call that locks nothing. */
const callMs = 4;

interface Command {
  readonly input: {
    readonly TableName?: string;
    readonly TransactItems?: readonly Readonly<Record<string, Write>>[];
  };
}

interface Write {
  readonly TableName: string;
  readonly Key?: object;
  readonly Item?: { readonly endpointHash: Uint8Array };
}

/**
 * A flood on a model of DynamoDB, in virtual time: a transaction fails if it meets another one at one of its items. No
 * endpoint is stored before.
 */
async function flood(
  endpoints: Iterator<string>,
  request: (store: SubscriptionStore, endpoint: string) => Promise<unknown>,
) {
  const random = new Random(1);
  const scheduler = new Scheduler(Date.UTC(2026, 10, 20), random);
  const lockedUntil = new Map<string, number>();
  const total = { busy: 0, mostBusy: 0, transactions: 0, refused: 0 };

  async function execute(command: Command): Promise<object> {
    const { TransactItems } = command.input;
    await scheduler.sleep(callMs);
    if (TransactItems === undefined) {
      const isUpdate = command.constructor.name === 'UpdateCommand';
      if (isUpdate) throw failed('ConditionalCheckFailedException');
      return {};
    }
    total.transactions += 1;
    const keys = TransactItems.flatMap((item) =>
      Object.values(item).map(({ TableName, Key, Item }) =>
        JSON.stringify([TableName, Key ?? Buffer.from(Item!.endpointHash)]),
      ),
    );
    const conflicts = keys.map((key) => (lockedUntil.get(key) ?? 0) > scheduler.now);
    if (conflicts.includes(true)) {
      throw failed('TransactionCanceledException', {
        CancellationReasons: conflicts.map((is) => ({ Code: is ? 'TransactionConflict' : 'None' })),
      });
    }
    for (const key of keys) lockedUntil.set(key, scheduler.now + lockMs);
    await scheduler.sleep(lockMs);
    return {};
  }

  const dynamo = clientWith((command: Command) =>
    sendRepeatedly(
      { input: command.input, isTransaction: command instanceof TransactWriteCommand },
      () => execute(command),
      {
        sleep: scheduler.sleep,
        random: () => random.next(),
        newToken: () => 'token',
        conflictRetries: browserConflictRetries,
      },
    ),
  );
  const tables = { subscriptions: 'Subscriptions', usage: 'Usage' };
  const store = subscriptionStore(dynamo, tables, scheduler.clock);
  const runFunction = async () => {
    total.busy += 1;
    total.mostBusy = Math.max(total.mostBusy, total.busy);
    try {
      // Counts the request.
      await scheduler.sleep(callMs);
      await request(store, endpoints.next().value!);
    } catch (error) {
      expect(error).toBeInstanceOf(ServiceError);
      total.refused += 1;
    }
    total.busy -= 1;
  };
  for (let count = 0; count < perSecond * seconds; count += 1) {
    scheduler.after(random.between(0, seconds * 1000), () => void runFunction());
  }
  await scheduler.run();
  return total;
}

function failed(name: string, detail: object = {}): Error {
  return Object.assign(new Error(name), { name, $response: {}, ...detail });
}

/** Endpoints whose public hashes start alike. */
function* chosenEndpoints(): Generator<string, string> {
  for (let number = 0; ; number += 1) {
    const url = `https://updates.push.services.mozilla.com/wpush/v2/${number}`;
    if (partOf(Buffer.from(deviceIdOf(url), 'base64url')) === 3) yield url;
  }
}

const save = (store: SubscriptionStore, url: string) =>
  store.save(knownProject, subscription({ endpoint: endpoint(url) }), null);

test('a flood of subscribe requests with chosen endpoints keeps fewer than 50 functions busy, and refuses fewer than one in ten', async () => {
  const { mostBusy, refused } = await flood(chosenEndpoints(), save);
  expect(mostBusy).toBeLessThan(50);
  expect(refused).toBeLessThan((perSecond * seconds) / 10);
});

test('a flood of unsubscribe requests with invented endpoints locks nothing', async () => {
  const { mostBusy, transactions, refused } = await flood(chosenEndpoints(), (store, url) =>
    store.unsubscribe(knownProject, url, Date.UTC(2026, 10, 20)),
  );
  expect(mostBusy).toBeLessThan(20);
  expect(transactions).toBe(0);
  expect(refused).toBe(0);
});
