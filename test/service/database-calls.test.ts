import { randomBytes, randomUUID } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDbCall } from 'aws-emulator/dynamodb-proxy';
import type { SetSettings } from '../../contract/wire/project.ts';
import { type RouteName, routes } from '../../contract/wire/routes.ts';
import { deviceIdOf, endpointHash, subscriptionKey } from '../../lambdas/store/items.ts';
import { projectCacheMs } from '../../lambdas/store/projects.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { signUserId } from '../../sdk/server/carillon-server.ts';
import { begun, counted, databaseCalls, type Rounds } from '../fixtures/database-calls.ts';
import {
  type ApiResponse,
  type CallOptions,
  type ProjectCredentials,
  useService,
} from '../fixtures/service.ts';
import { reopen } from '../fixtures/stored-slices.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

/**
 * The calls of a request to DynamoDB, by the rounds in which they are made: a call is one round later than
 * the latest one that had ended when it began. Their number is the longest chain of calls, each of which
 * began after the one before had ended.
 */
class RecordedRounds {
  readonly rounds: string[][] = [];
  #endedRounds = 0;

  /** @returns the index of the call's round. */
  record(call: DynamoDbCall): number {
    const round = this.#endedRounds;
    this.rounds[round] ??= [];
    this.rounds[round].push(describeCall(call));
    void call.ended.then(() => {
      this.#endedRounds = Math.max(this.#endedRounds, round + 1);
    });
    return round;
  }
}

/** A call's operation, and the tables of its items. */
function describeCall({ operation, parameters }: DynamoDbCall): string {
  const {
    TableName,
    IndexName,
    TransactItems = [],
    RequestItems = {},
  } = parameters as {
    readonly TableName?: string;
    readonly IndexName?: string;
    readonly TransactItems?: readonly Readonly<Record<string, { readonly TableName: string }>>[];
    readonly RequestItems?: object;
  };
  const tables = [
    ...(TableName === undefined ? [] : [TableName]),
    ...TransactItems.flatMap((item) => Object.values(item).map((write) => write.TableName)),
    ...Object.keys(RequestItems),
  ];
  // The template's name of a table ends with CDK's hash.
  const names = tables.map((table) => table.replace(/Table[0-9A-F]{8}$/, ''));
  return [operation, ...names].join(' ') + (IndexName === undefined ? '' : `/${IndexName}`);
}

let recorded = new RecordedRounds();
/** Holds a call of this round. */
let held: (round: number) => Promise<void> | undefined = () => undefined;

const service = useService({
  // One instance per function, so that all requests share its cache of projects.
  concurrency: 1,
  onDynamoDbCall: async (call) => {
    await held(recorded.record(call));
    return undefined;
  },
});

type Request = () => Promise<ApiResponse>;

/** The calls of a request, whatever their rounds. */
async function callsOf(request: Request): Promise<readonly string[]> {
  recorded = new RecordedRounds();
  await request();
  return recorded.rounds.flat();
}

/**
 * Expects the calls of a request in these rounds. Each call is held until all of its round have begun:
 * otherwise one that ends before the next has begun would make two rounds of one. If a call of a round
 * never begins, the function repeats the others, and the calls differ.
 */
async function expectRounds(request: Request, expected: Rounds): Promise<void> {
  const gates = expected.map(({ length }) => gate(length));
  held = (round) => gates[round]?.();
  try {
    await callsOf(request);
  } finally {
    held = () => undefined;
  }
  expect(recorded.rounds.map((calls) => calls.toSorted())).toEqual(
    expected.map((calls) => calls.toSorted()),
  );
}

/** @returns a function whose promises resolve when it has been called this many times. */
function gate(size: number): () => Promise<void> {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let waiting = 0;
  return () => {
    waiting += 1;
    if (waiting === size) open();
    return opened;
  };
}

/** With an `Idempotency-Key`, as every documented send. */
const send = (owner: ProjectCredentials, body: object) =>
  service.send(owner, body, { 'idempotency-key': randomUUID() });

interface Case {
  readonly what: string;
  readonly settings?: SetSettings;
  /** With the project in memory. */
  readonly rounds: Rounds;
  /** The same for the first request, if it differs. */
  readonly firstRounds?: Rounds;
  /** How the function reads a project that it does not have in memory. */
  readonly uncached?: Rounds;
  /** @returns a request that is made once. */
  readonly prepare: (owner: ProjectCredentials) => Request | Promise<Request>;
}

/** A send that is the first of its month: it opens the month while the rest of the recipients is read. */
function firstOfMonth(rounds: Rounds): Rounds {
  const [newMonth] = databaseCalls.newMonth;
  const began = rounds.findIndex((calls) => calls.includes(begun)) + 1;
  const [meanwhile = []] = rounds.slice(began, -2);
  return [...rounds.slice(0, began), [...meanwhile, ...newMonth], [begun], ...rounds.slice(-2)];
}

const valid =
  (name: RouteName, overrides: Partial<CallOptions> = {}) =>
  (owner: ProjectCredentials) =>
  () =>
    callWithValidRequest(service, owner, name, overrides);

const members = new Map<string, Promise<ProjectCredentials>>();

/** A viewer of the project: one, because functions remember the members of a project. */
function memberOf(owner: ProjectCredentials): Promise<ProjectCredentials> {
  const { projectId } = owner;
  const member = { name: 'Ann', role: 'viewer', random: randomBytes } as const;
  const invited =
    members.get(projectId) ??
    service.registry.invite(projectId, member).then(({ key }) => ({ ...owner, secretKey: key }));
  members.set(projectId, invited);
  return invited;
}

const ofNotification = (name: RouteName) => async (owner: ProjectCredentials) => {
  const { body } = await send(owner, { title: 'T' });
  return valid(name, { parameters: { notificationId: body.id } })(owner);
};

const subscribeAs = (userId: string, userIdSignature: string) => (owner: ProjectCredentials) => {
  const browser = service.stack.pushService.subscribe(owner).toJSON();
  return valid('subscribe', { body: { ...browser, userId, userIdSignature } })(owner);
};

const casesOf: Readonly<Record<RouteName, readonly Case[]>> = {
  subscribe: [
    {
      what: 'a new subscription',
      uncached: databaseCalls.uncachedIdentityProject,
      rounds: databaseCalls.newSubscription,
      prepare: valid('subscribe'),
    },
    {
      what: 'a new subscription that names its key',
      uncached: databaseCalls.uncachedIdentityProject,
      rounds: databaseCalls.newSubscription,
      prepare(owner) {
        const { applicationServerKey } = owner;
        const browser = service.stack.pushService.subscribe(owner).toJSON();
        return valid('subscribe', { body: { ...browser, applicationServerKey } })(owner);
      },
    },
    {
      what: 'a new subscription with a signed user id',
      uncached: databaseCalls.uncachedIdentityProject,
      rounds: databaseCalls.newSubscription,
      prepare: (owner) => subscribeAs('ada', signUserId(owner.identityKey, 'ada'))(owner),
    },
    {
      what: 'a subscription with a wrong signature',
      uncached: databaseCalls.uncachedIdentityProject,
      rounds: databaseCalls.unknownKeyOrSignature,
      prepare: subscribeAs('ada', 'wrong'),
    },
    {
      what: 'an updated subscription',
      uncached: databaseCalls.uncachedIdentityProject,
      rounds: databaseCalls.updatedSubscription,
      async prepare(owner) {
        const body = (await service.subscribe(owner)).toJSON();
        // Not before each case: the SDK corrects a clock that is five minutes wrong, and repeats calls.
        service.stack.freeze(projectCacheMs, 'reset');
        return valid('subscribe', { body })(owner);
      },
    },
    ...[
      { what: 'a subscription that keeps its user', rounds: databaseCalls.updatedSubscription },
      { what: 'a subscription that gets another user', rounds: databaseCalls.otherUser },
    ].map(({ what, rounds }) => ({
      what,
      uncached: databaseCalls.uncachedIdentityProject,
      rounds,
      async prepare(owner: ProjectCredentials) {
        const isOther = rounds === databaseCalls.otherUser;
        const browser = await service.subscribe(owner, isOther ? 'bob' : 'ada');
        service.stack.freeze(projectCacheMs, 'reset');
        return valid('subscribe', { body: { ...browser.toJSON(), userId: 'ada' } })(owner);
      },
    })),
    {
      what: 'a new subscription in place of another',
      // The earlier one has read it.
      uncached: [],
      rounds: databaseCalls.replacedSubscription,
      async prepare(owner) {
        const { endpoint: replaces } = await service.subscribe(owner);
        const browser = service.stack.pushService.subscribe(owner).toJSON();
        return valid('subscribe', { body: { ...browser, renewal: true, replaces } })(owner);
      },
    },
    {
      what: 'a subscription beyond the cap',
      uncached: databaseCalls.uncachedIdentityProject,
      settings: { subscriberCap: 0 },
      firstRounds: databaseCalls.refusedSubscription,
      // The function remembers for seconds that the project is full. An update would succeed.
      rounds: databaseCalls.updatedSubscription,
      prepare: valid('subscribe'),
    },
    {
      what: 'a subscription with an unknown key',
      uncached: databaseCalls.uncachedIdentityProject,
      rounds: databaseCalls.unknownKeyOrSignature,
      async prepare(owner) {
        const { applicationServerKey } = await service.createProject();
        const browser = service.stack.pushService.subscribe().toJSON();
        return valid('subscribe', { body: { ...browser, applicationServerKey } })(owner);
      },
    },
  ],
  unsubscribe: [
    {
      what: 'an unsubscribe',
      rounds: databaseCalls.unsubscribe,
      async prepare(owner) {
        const { endpoint } = await service.subscribe(owner);
        return valid('unsubscribe', { query: `?endpoint=${encodeURIComponent(endpoint)}` })(owner);
      },
    },
    {
      what: 'an unsubscribe of an unknown endpoint',
      rounds: databaseCalls.unknownEndpoint,
      prepare: valid('unsubscribe', { query: '?endpoint=https://push.example/unknown' }),
    },
  ],
  track: [
    { what: 'an event', rounds: databaseCalls.event, prepare: ofNotification('track') },
    {
      what: 'an invalid event',
      rounds: databaseCalls.invalidRequest,
      prepare: valid('track', { body: { type: 'closed' } }),
    },
  ],
  send: [
    {
      what: 'a broadcast to few subscribers',
      rounds: databaseCalls.broadcast,
      firstRounds: firstOfMonth(databaseCalls.broadcast),
      uncached: databaseCalls.uncachedSigningProject,
      async prepare(owner) {
        await service.subscribe(owner);
        return () => send(owner, { title: 'T' });
      },
    },
    {
      what: 'a send to two user ids',
      rounds: databaseCalls.targetedSend(2),
      firstRounds: firstOfMonth(databaseCalls.targetedSend(2)),
      uncached: databaseCalls.uncachedSigningProject,
      prepare: (owner) => () => send(owner, { title: 'T', userIds: ['ada', 'bob'] }),
    },
    {
      what: 'a send to a user with a subscription',
      rounds: databaseCalls.sendToSubscriber,
      firstRounds: firstOfMonth(databaseCalls.sendToSubscriber),
      uncached: databaseCalls.uncachedSigningProject,
      async prepare(owner) {
        await service.subscribe(owner, 'ada');
        return () => send(owner, { title: 'T', userIds: ['ada'] });
      },
    },
    {
      what: 'a member who may not send',
      rounds: [counted],
      uncached: databaseCalls.uncachedSigningProject,
      prepare: async (owner) => valid('send')(await memberOf(owner)),
    },
  ],
  getNotification: [
    {
      what: 'reading a notification',
      rounds: databaseCalls.readNotification,
      prepare: ofNotification('getNotification'),
    },
  ],
  stopNotification: [
    {
      what: 'stopping a notification that is being sent',
      rounds: databaseCalls.stopNotification,
      async prepare(owner) {
        const { body } = await send(owner, { title: 'T' });
        await reopen(service, body.id);
        return valid('stopNotification', { parameters: { notificationId: body.id } })(owner);
      },
    },
    {
      what: 'stopping a notification that was sent',
      rounds: databaseCalls.readNotification,
      prepare: ofNotification('stopNotification'),
    },
  ],
  listNotifications: [
    {
      what: 'a page of notifications',
      rounds: databaseCalls.listNotifications,
      async prepare(owner) {
        for (const title of ['A', 'B', 'C']) await send(owner, { title });
        return valid('listNotifications', { query: '?limit=2' })(owner);
      },
    },
  ],
  getProject: [
    { what: 'reading a project', rounds: databaseCalls.readProject, prepare: valid('getProject') },
    {
      what: 'a member reading a project',
      rounds: databaseCalls.readProject,
      prepare: async (owner) => valid('getProject')(await memberOf(owner)),
    },
    {
      what: 'reading a project with a sample of its subscribers',
      rounds: databaseCalls.sampleSubscribers,
      prepare: valid('getProject', { query: '?sample=subscribers' }),
    },
  ],
  getUser: [
    {
      what: 'reading a user',
      rounds: databaseCalls.readUser,
      async prepare(owner) {
        await service.subscribe(owner, 'ada');
        return valid('getUser', { query: '?userId=ada' })(owner);
      },
    },
  ],
  removeUser: [
    {
      what: 'removing a user with one subscription',
      rounds: databaseCalls.removeUser,
      async prepare(owner) {
        const userId = randomUUID();
        await service.subscribe(owner, userId);
        return valid('removeUser', { query: `?userId=${userId}` })(owner);
      },
    },
    {
      what: 'removing a device',
      rounds: databaseCalls.removeDevice,
      async prepare(owner) {
        const { endpoint } = await service.subscribe(owner, 'ada');
        const device = deviceIdOf(endpoint);
        return valid('removeUser', { query: `?userId=ada&device=${device}` })(owner);
      },
    },
    {
      what: 'removing an unknown user',
      rounds: [databaseCalls.removeUser[0]!, databaseCalls.removeUser[2]!],
      prepare: valid('removeUser'),
    },
  ],
};

// A function's first request of a day also reads the key of addresses: here one for no project.
beforeAll(async () => {
  const owner = { ...(await service.createProject()), projectId: 'none' };
  for (const route of Object.values(routes)) await callWithValidRequest(service, owner, route.name);
});

const table = Object.values(casesOf)
  .flat()
  .map((one) => ({ ...one, calls: one.rounds.flat().length }));
test.each(table)(
  '$what: $rounds.length rounds, $calls calls; one more if the project is not cached',
  async ({
    settings,
    rounds,
    firstRounds = rounds,
    uncached = databaseCalls.uncachedProject,
    prepare,
  }) => {
    const owner = await service.createProject(settings);
    const first = await prepare(owner);
    const second = await prepare(owner);
    await expectRounds(first, [...uncached, ...firstRounds]);
    await expectRounds(second, rounds);
  },
);

test('a wrong key pair takes one more call in the first send only', async () => {
  const owner = await service.createProject();
  await service.registry.rotateVapid(owner.projectId);
  // With the previous key, which the request does not name.
  await service.subscribe(owner);
  const broadcast = () => send(owner, { title: 'T' });
  const plain = databaseCalls.broadcast;
  await expectRounds(broadcast, [
    ...[...databaseCalls.uncachedSigningProject, ...firstOfMonth(plain).slice(0, -1)],
    ...[...databaseCalls.correctedPair, ...plain.slice(-1)],
  ]);
  await expectRounds(broadcast, plain);
});

test('a broadcast takes one more call per 50 gone subscriptions', async () => {
  const owner = await service.createProject();
  await send(owner, { title: 'Fills the cache' });
  // Together fewer than the rate limit.
  const added = Array.from({ length: 53 }, () => service.subscribe(owner));
  for (const browser of await Promise.all(added)) {
    browser.unsubscribe();
    await markAsGone(owner, browser);
  }
  // How many removals are under way at the same time depends on the push service.
  const made = await callsOf(() => send(owner, { title: 'T' }));
  const plain = databaseCalls.broadcast.flat();
  expect(made.toSorted()).toEqual([...plain, ...[50, 3].map(removal)].toSorted());
});

/** As if its push service had said a day ago that it is gone: what most are, is removed with the second send. */
function markAsGone(owner: ProjectCredentials, { endpoint }: SimulatedBrowser): Promise<unknown> {
  return service.dynamo.send(
    new UpdateCommand({
      TableName: service.stack.dynamodb.tables.SUBSCRIPTIONS_TABLE,
      Key: subscriptionKey(owner.ref, endpointHash(owner, endpoint)),
      UpdateExpression: 'SET goneSince = :at',
      ExpressionAttributeValues: { ':at': Date.now() - 24 * 60 * 60_000 },
    }),
  );
}

function removal(subscriptions: number): string {
  return `TransactWriteItems ${'Subscriptions '.repeat(subscriptions)}Usage`;
}
