import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../../contract/wire/errors.ts';
import { routes } from '../../contract/wire/routes.ts';
import {
  forgetCap,
  newParts,
  type ReadCap,
  subscriberCounter,
} from '../../lambdas/store/counters.ts';
import { browserConflictRetries, sendRepeatedly } from '../../lambdas/store/dynamo.ts';
import { deviceIdOf, endpointHash, partitionOf } from '../../lambdas/store/items.ts';
import { type SubscriptionStore, subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { clientWith } from '../fixtures/client-with.ts';
import { knownProject } from '../fixtures/known-project.ts';
import { endpoint, subscription } from '../fixtures/subscription.ts';
import { MemoryDatabase, tables } from '../simulation/database/memory-database.ts';
import { Random } from '../simulation/time/random.ts';
import { Scheduler } from '../simulation/time/scheduler.ts';

/** Requests per second of each of the two routes, and seconds of a flood. */
const throttle = routes.subscribe.throttle;
const seconds = 5;
/** Ms for which DynamoDB locks the items of a transaction: 6 to 10 have been reported. */
const lockMs = 8;
/** Ms of a call that locks nothing. */
const callMs = 4;

interface Command {
  readonly input: {
    readonly TableName?: string;
    readonly Key?: object;
    readonly TransactItems?: readonly Readonly<Record<string, Write>>[];
  };
}

interface Write {
  readonly TableName: string;
  readonly Key?: object;
  readonly Item?: { readonly endpointHash: Uint8Array };
}

/** The table of subscriptions and their counter, in virtual time: who meets a transaction at one of its items fails. */
class LockingDatabase {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly memory: MemoryDatabase;
  readonly dynamo: DynamoDBDocumentClient;
  readonly store: SubscriptionStore;
  readonly #lockedUntil = new Map<string, number>();
  transactions = 0;

  constructor(seed: number, cap: number | null = null) {
    this.random = new Random(seed);
    this.scheduler = new Scheduler(Date.UTC(2026, 10, 20), this.random);
    this.memory = new MemoryDatabase({ now: () => this.scheduler.now });
    for (const part of newParts({ project: knownProject.ref }, 0, cap)) {
      this.memory.put(tables.usage, { ...part });
    }
    const random = () => this.random.next();
    this.dynamo = clientWith((command: Command) =>
      sendRepeatedly(
        { input: command.input, isTransaction: command instanceof TransactWriteCommand },
        (input) => this.#execute(Object.assign(Object.create(command), { input })),
        {
          ...{ sleep: this.scheduler.sleep, random, newToken: () => String(random()) },
          conflictRetries: browserConflictRetries,
        },
      ),
    );
    this.store = subscriptionStore(this.dynamo, tables, this.scheduler.clock, random);
  }

  async #execute(command: Command): Promise<object> {
    await this.scheduler.sleep(callMs);
    const { TransactItems, ...own } = command.input;
    if (TransactItems === undefined) {
      if (command instanceof UpdateCommand && this.#isLocked(own as Write)) {
        throw failed('TransactionConflictException');
      }
      return this.memory.execute(command);
    }
    this.transactions += 1;
    const writes = TransactItems.flatMap((item) => Object.values(item));
    const conflicts = writes.map((write) => this.#isLocked(write));
    if (conflicts.includes(true)) {
      throw failed('TransactionCanceledException', {
        CancellationReasons: conflicts.map((is) => ({ Code: is ? 'TransactionConflict' : 'None' })),
      });
    }
    const until = this.scheduler.now + lockMs;
    for (const write of writes) this.#lockedUntil.set(keyOf(write), until);
    try {
      const result = this.memory.execute(command);
      await this.scheduler.sleep(lockMs);
      return result;
    } catch (error) {
      for (const write of writes) this.#lockedUntil.delete(keyOf(write));
      await this.scheduler.sleep(lockMs / 2);
      throw error;
    }
  }

  #isLocked(write: Write): boolean {
    return (this.#lockedUntil.get(keyOf(write)) ?? 0) > this.scheduler.now;
  }
}

function keyOf({ TableName, Key, Item }: Write): string {
  const { endpointHash: hash, ...rest } = (Key ?? Item!) as Partial<typeof Item & object>;
  return JSON.stringify([TableName, hash === undefined ? rest : Buffer.from(hash)]);
}

function failed(name: string, detail: object = {}): Error {
  return Object.assign(new Error(name), { name, $response: {}, ...detail });
}

/** A request to a function: `busy` counts those that are under way. */
type Request = (database: LockingDatabase) => Promise<unknown>;

/** Makes requests of each kind for some seconds, at this rate each. */
async function flood(database: LockingDatabase, perSecond: number, kinds: readonly Request[]) {
  const { random, scheduler } = database;
  const total = { mostBusy: 0, requests: 0, refused: 0 };
  let busy = 0;
  const runFunction = async (request: Request) => {
    busy += 1;
    total.requests += 1;
    total.mostBusy = Math.max(total.mostBusy, busy);
    try {
      // Counts the request.
      await scheduler.sleep(callMs);
      await request(database);
    } catch (error) {
      expect(error).toBeInstanceOf(ServiceError);
      total.refused += 1;
    }
    busy -= 1;
  };
  for (const request of kinds) {
    for (let count = 0; count < perSecond * seconds; count += 1) {
      scheduler.after(random.between(0, seconds * 1000), () => void runFunction(request));
    }
  }
  await scheduler.run();
  return total;
}

const url = (number: number) => `https://updates.push.services.mozilla.com/wpush/v2/${number}`;

function* endpointsThat(isChosen: (url: string) => boolean): Generator<string, never> {
  for (let number = 0; ; number += 1) if (isChosen(url(number))) yield url(number);
}

const anyEndpoints = () => endpointsThat(() => true);
/** Endpoints whose public hashes start alike. */
const chosenEndpoints = () =>
  endpointsThat((one) => partitionOf(Buffer.from(deviceIdOf(one), 'base64url')) === 3);

const save = ({ store }: LockingDatabase, one: string, ...rest: [cap?: number, read?: ReadCap]) => {
  const [cap = null, readCap] = rest;
  const subscribed = subscription({ endpoint: endpoint(one) });
  return store.save(knownProject, subscribed, cap, undefined, readCap);
};

/** Subscribes these endpoints, and unsubscribes what was just stored, or an unknown one. */
function requestsWith(endpoints: Iterator<string>) {
  const stored: string[] = [];
  const subscribe: Request = async (database) => {
    const one = endpoints.next().value!;
    await save(database, one);
    stored.push(one);
  };
  const unsubscribe: Request = ({ store, scheduler }) =>
    store.unsubscribe(knownProject, stored.shift() ?? url(-1), scheduler.now);
  return { subscribe, unsubscribe };
}

const seed = Number(process.env.SEED ?? 1) || 1;

describe('a flood at the throttles refuses fewer than one request in a hundred, with any and with chosen endpoints', () => {
  test.each([
    ['any', anyEndpoints],
    ['chosen', chosenEndpoints],
  ])('%s endpoints', async (_, endpoints) => {
    const { subscribe } = requestsWith(endpoints());
    const one = await flood(new LockingDatabase(seed), throttle, [subscribe]);
    expect(one.mostBusy).toBeLessThan(50);
    expect(one.refused / one.requests).toBeLessThan(0.01);
    // What was just stored is unsubscribed.
    const { subscribe: again, unsubscribe } = requestsWith(endpoints());
    const both = await flood(new LockingDatabase(seed), throttle, [again, unsubscribe]);
    expect(both.mostBusy).toBeLessThan(60);
    expect(both.refused / both.requests).toBeLessThan(0.01);
    if (process.env.FIGURES) console.log(JSON.stringify({ seed, one, both }));
  });
});

test('a flood of unsubscribe requests with invented endpoints locks nothing', async () => {
  const database = new LockingDatabase(seed);
  const { unsubscribe } = requestsWith(chosenEndpoints());
  const { mostBusy, refused } = await flood(database, throttle, [unsubscribe]);
  expect(mostBusy).toBeLessThan(20);
  expect(database.transactions).toBe(0);
  expect(refused).toBe(0);
});

/** Requests that conflict by what they name: of a caller who makes too many. */
const conflicting: Readonly<Record<string, (number: number) => readonly Request[]>> = {
  'for one endpoint': () => [
    (database) => save(database, url(0)),
    ({ store, scheduler }) => store.unsubscribe(knownProject, url(0), scheduler.now),
  ],
  'that renew many endpoints in place of one': (number) => [
    ({ store }) => {
      const renewed = subscription({ endpoint: endpoint(url(number)) });
      const renewal = { ...renewed, isRenewal: true, replaces: url(-1) };
      return store.save(knownProject, renewal, null);
    },
  ],
};

describe('requests that conflict at once are refused without a 5xx', () => {
  test.each(Object.entries(conflicting))('requests %s', async (_, requests) => {
    const codes = new Set<string>();
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const database = new LockingDatabase(seed + attempt);
      const { random, scheduler } = database;
      for (let number = 0; number < 60; number += 1) {
        for (const request of requests(number)) {
          scheduler.after(random.between(0, 5), () =>
            request(database).catch(({ code }: ServiceError) => codes.add(code)),
          );
        }
      }
      await scheduler.run();
    }
    expect([...codes]).toEqual(['rate_limited']);
  });
});

test('response times do not tell which endpoints are stored together', async () => {
  const database = new LockingDatabase(seed);
  const { scheduler } = database;
  const isTogether = (one: string) => partitionOf(endpointHash(knownProject, one)) === 3;
  const { subscribe, unsubscribe } = requestsWith(endpointsThat(isTogether));
  /** Ms of registrations, and of removals, of endpoints that are stored with those of the flood, and of others. */
  const probes = [isTogether, (one: string) => !isTogether(one)].map((isChosen) => {
    const endpoints = endpointsThat((one) => isChosen(`${one}/probe`));
    const times: number[] = [];
    const probe: Request = async () => {
      const one = `${endpoints.next().value}/probe`;
      const startedAt = scheduler.now;
      await save(database, one);
      await database.store.unsubscribe(knownProject, one, scheduler.now);
      times.push(scheduler.now - startedAt);
    };
    return { times, probe };
  });
  const visitors = probes.map(({ probe }) => probe);
  const { refused } = await flood(database, 60, [subscribe, unsubscribe, ...visitors]);
  const [together, apart] = probes.map(
    ({ times }) => times.reduce((sum, ms) => sum + ms, 0) / times.length,
  );
  expect(Math.abs(together! / apart! - 1)).toBeLessThan(0.03);
  expect(refused).toBeLessThan(4);
});

test('a cap that is lowered in a flood is exact at once, whatever functions remember', async () => {
  const database = new LockingDatabase(seed, 1000);
  const { scheduler, memory } = database;
  const endpoints = anyEndpoints();
  const startedAt = scheduler.now;
  let cap = 1000;
  let loweredAt: number | undefined;
  /** What functions remember of the cap: all of the old one, for longer than the flood. */
  const functions = Array.from({ length: 30 }, () => ({ cap }));
  /** Each cap that the counter was divided for. */
  const divided: unknown[] = [];
  const subscribers = () =>
    memory.items(tables.usage).reduce((sum, { used }) => sum + (used as number), 0);
  const subscribe: Request = async () => {
    const one = database.random.pick(functions);
    const read = async () => {
      one.cap = cap;
      return cap;
    };
    const outcome = await save(database, endpoints.next().value, one.cap, read);
    const [latest] = memory.items(tables.usage).flatMap((item) => item.cap ?? []);
    if (latest !== undefined && divided.at(-1) !== latest) divided.push(latest);
    if (outcome === 'created' && loweredAt) expect(subscribers()).toBeLessThanOrEqual(cap);
  };
  scheduler.after(1000, async () => {
    cap = 900;
    await forgetCap(database.dynamo, subscriberCounter(tables.usage, knownProject.ref));
    loweredAt = scheduler.now - startedAt;
  });
  const { refused, requests } = await flood(database, throttle, [subscribe]);
  expect(loweredAt).toBeLessThan(1200);
  expect(divided).toEqual([1000, 900]);
  expect(subscribers()).toBe(900);
  if (process.env.FIGURES) console.log(JSON.stringify({ seed, refused, requests, loweredAt }));
});
