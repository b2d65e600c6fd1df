import {
  PutCommand,
  QueryCommand,
  TransactGetCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { sendTimeline, sliceSizes, sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { type Counts, noCounts } from '../../contract/wire/counts.ts';
import {
  type DatabaseCommand,
  type Item,
  type MemoryDatabase,
  tables,
} from './database/memory-database.ts';
import { isSliceWrite, withInput } from './database-calls.ts';
import type { Fault } from './faults.ts';
import { type InvariantName, violations } from './invariants.ts';
import { useSmallSizes } from './scale.ts';
import { simulateSends } from './simulated-sends.ts';
import { type Breakage, firstRef, type Response, simulate } from './simulation.ts';
import type { World } from './world.ts';

/** Seeds that are tried with a breakage. Some faults are found by one in fifty, and a change of the scenario moves them. */
const mostSeeds = 400;
/** Seeds that are tried without one. */
const unbrokenSeeds = 25;

beforeAll(useSmallSizes);

/** What is broken, and the constants that are others in it. */
interface Broken extends Breakage {
  readonly sendTimes?: Partial<Record<keyof typeof sendTimeline, number>>;
  readonly sliceTimes?: Partial<Record<keyof typeof sliceTimeline, number>>;
  readonly sizes?: Partial<Record<keyof typeof sliceSizes, number>>;
}

const unnoticedStops = writes((write) => ({
  ...write,
  ConditionExpression: write.ConditionExpression?.replace(
    'attribute_not_exists(stoppedAt)',
    'expiresAt > expiresAt OR attribute_not_exists(nothing)',
  ),
}));

/** For each invariant, a fault that breaks it. */
const breakages: Readonly<
  Record<InvariantName, readonly [how: string, Broken, ...favoured: readonly Fault[]]>
> = {
  pushesAreClaimed: [
    'the writes of slices are lost, and their functions do not notice',
    {
      world: (world) =>
        executing(world, (command, execute) => (isSliceWrite(command) ? {} : execute(command))),
    },
  ],
  pushedOnce: [
    'every invocation gets the slice',
    writes(({ ConditionExpression: _, ...write }) => write),
  ],
  onlyAudienceIsPushed: [
    'conditions are not passed to the database',
    queries(({ FilterExpression: _, ...query }) => query),
  ],
  textsAreTheirOwn: [
    'users get the values of others',
    { slice: ({ values, ...slice }) => ({ ...slice, values: values?.toReversed() }) },
  ],
  noPushAfterItsTime: [
    'pushes start 5 s longer',
    { sendTimes: { lastPushMs: 27_000, pushEndMs: 28_000, endMs: 28_000 } },
    'slow push service',
  ],
  noPushAfterStop: ['functions never notice a stop', unnoticedStops, 'slow push'],
  deletedProjectIsSilent: [
    'functions never notice a deletion',
    { world: rememberProject },
    'project deleted',
    'slow push',
    'push throttled with Retry-After',
  ],
  keyPairIsFound: [
    'a push is always signed with the current key pair',
    {
      world: (world) =>
        readingProjects(world, ([project, keys]) => [
          { ...project, previousVapidPublicKey: project!.vapidPublicKey },
          { ...keys, previousPrivateKey: keys!.privateKey },
        ]),
    },
    'wrong key pair',
  ],
  countsAddUp: [
    'one more counts as attempted',
    counts((stored) => ({ ...stored, attempted: stored.attempted + 1 })),
  ],
  pushedIsAttempted: [
    'nobody counts as claimed',
    writes((write) => withValues(write, { ':claimed': 0, ...values(nobody) })),
  ],
  deliveredIsTrue: [
    'failed recipients count as delivered',
    counts(({ attempted, delivered, failed, ...stored }) => ({
      ...stored,
      attempted,
      delivered: delivered + failed,
      failed: 0,
      failures: {},
    })),
  ],
  interruptedIsLost: [
    'a function forgets its counts when its slice is stopped',
    { world: endLeasesOfStopped },
    'slow push',
  ],
  deathIsCheap: [
    'a chunk takes 20 s',
    { sizes: { chunk: 14, expectedChunk: 11, chunkSeconds: 20 } },
    ...(['crash while pushing', 'crash after a call'] as const),
  ],
  unreachedIsOver: [
    'who waits counts as unreached',
    counts((stored, claimed) => ({ ...stored, unreached: claimed - stored.attempted })),
  ],
  everyoneIsCounted: [
    'the first of a page is not read',
    {
      world: (world) =>
        executing(world, (command, execute) => {
          const result = execute(command) as { Items?: object[] };
          const isRead =
            command instanceof QueryCommand && command.input.TableName === tables.subscriptions;
          return isRead ? { ...result, Items: result.Items?.slice(1) } : result;
        }),
    },
  ],
  attemptedIsPushed: [
    'the first of a page is not read, and counts as delivered',
    { world: deliverUnread },
  ],
  reachedIsTrue: [
    'it is not stored who was reached',
    writes((write) =>
      ':reached' in (write.ExpressionAttributeValues ?? {})
        ? withValues(write, { ':reached': new Uint8Array(1) })
        : write,
    ),
  ],
  monthCounterIsExact: [
    'a cancelled send does not return its unit',
    {
      world: (world) => {
        world.faults.favour('late start', 'outage of a table', 'one call fails');
        dropWrites(world, isReturnOfUnit);
      },
    },
  ],
  subscriberCountersAreExact: [
    'a removal does not change the counter',
    { world: (world) => dropWrites(world, isReturnOfUnit) },
  ],
  capIsReached: [
    'a send is refused whatever its month has sent',
    told(201, () => ({
      status: 429,
      headers: { 'Retry-After': '1' },
      body: { error: { code: 'send_cap_reached', message: '' } },
    })),
  ],
  respondsInTime: [
    'a request believes to have 10 s more',
    { sendTimes: { lastPushMs: 32_000, pushEndMs: 35_000, endMs: 37_000 } },
    'slow push service',
  ],
  noInternalError: [
    'the database has an error that nobody knows',
    {
      world: (world) =>
        executing(world, (command, execute) => {
          if (world.stream('errors').chance(0.05)) throw new Error('Unknown.');
          return execute(command);
        }),
    },
  ],
  namedIsStored: [
    'a response names a notification that is not stored',
    told(202, () => ({ id: 'another', stored: undefined })),
  ],
  createdIsFinal: [
    'a response leaves out a reason',
    told(201, ({ body }) => ({ body: { ...body, failures: {} } })),
    'push refused with an error',
  ],
  createdHasAttempted: [
    'nobody is attempted, and the response is 201',
    told(201, ({ body }) => ({ body: { ...body, attempted: 0, unreached: 1 } })),
  ],
  errorsAreTrue: [
    'a send that is made gets an error',
    told(201, () => ({
      status: 503,
      body: { error: { code: 'unavailable', message: 'Nothing was sent.' } },
    })),
  ],
  acceptedEndsSent: ['the end of a slice is not stored', writes(withoutEnd)],
  asyncReachesEveryone: [
    'the last one of a slice counts as unreached',
    counts((stored) => ({
      ...stored,
      attempted: stored.attempted - 1,
      delivered: stored.delivered - 1,
      unreached: stored.unreached + 1,
    })),
  ],
  waitingUsesItsTime: ['pushes end 18 s early', { sendTimes: { lastPushMs: 4000 } }],
  attemptsAreUsed: [
    'a function believes that its time is over after a minute',
    { sliceTimes: { lastPushBeforeEndMs: 14 * 60_000 } },
    'slow push service',
  ],
  repeatedIsSentOnce: [
    'idempotency keys are ignored',
    { world: (world) => dropWrites(world, ({ Put }) => Put?.Item?.requestHash !== undefined) },
    'request repeated later',
  ],
  repetitionEnds: [
    'a request owns its send for ever',
    {
      world: (world) =>
        executing(world, (command, execute) => {
          const result = execute(command) as { Item?: { ownedAt?: number } };
          const { Item } = result;
          return Item?.ownedAt ? { Item: { ...Item, ownedAt: Item.ownedAt + 1e9 } } : result;
        }),
    },
    'request repeated later',
    'crash while pushing',
  ],
  everyNotificationEnds: [
    'a lease lasts for days',
    writes((write) => withValues(withoutEnd(write), { ':leasedUntil': untilIn(write) + 1e9 })),
  ],
  statusIsFinal: [
    'what was sent counts as interrupted later',
    {
      notification: (found) =>
        found.status === 'sent' ? { ...found, status: 'interrupted' } : found,
    },
  ],
  stoppedIsFinal: [
    'a stop is not seen in the result of a slice',
    {
      notification: (found) => (found.status === 'stopped' ? { ...found, status: 'sent' } : found),
    },
  ],
  pausedProjectIsSilent: [
    'functions notice neither a pause nor a stop',
    {
      world: (world) => {
        rememberProject(world);
        unnoticedStops.world!(world);
      },
    },
    'project paused',
    'slow push',
  ],
  revokedKeyIsRefused: [
    'functions never read a project again',
    { world: rememberProject },
    'member key revoked',
  ],
  callsAreFew: [
    'a function waits for a millisecond at most',
    { host: (host) => ({ ...host, sleep: (ms, signal) => host.sleep(Math.min(ms, 1), signal) }) },
    'throttled',
  ],
  deletedProjectLeavesNothing: [
    'a send begins without a look at its project',
    { world: (world) => dropWrites(world, ({ ConditionCheck }) => ConditionCheck !== undefined) },
    'project deleted',
  ],
  newestRegistrationIsStored: [
    'an older registration replaces a newer one',
    {
      world: (world) =>
        withCondition(
          world,
          '(updatedAt <= :requestedAt OR updatedAt > :latest)',
          'attribute_exists(endpointHash)',
        ),
    },
    'registration changed',
    'requests overlap',
    'held request',
  ],
  dropRemovesOnlyItsPair: [
    'a subscription is removed that was corrected meanwhile',
    {
      world: (world) => {
        correctWhatIsRead(world);
        withCondition(
          world,
          'attribute_exists(endpointHash) AND (attribute_not_exists(vapidPairNumber) OR vapidPairNumber < :current)',
          'attribute_exists(endpointHash)',
        );
      },
    },
    'key pair dropped',
  ],
  onlyTheUserIsRemoved: [
    'a device is removed that has passed to another user',
    {
      world: (world) =>
        withCondition(world, 'projectUser = :user', 'attribute_exists(endpointHash)'),
    },
    'device removed',
    'registration changed',
  ],
  changesAreAudited: [
    'entries of the audit are not stored',
    {
      world: (world) =>
        executing(world, (command, execute) =>
          command instanceof PutCommand ? {} : execute(command),
        ),
    },
    'device removed',
  ],
  pruneRemovesOnlyUnseen: [
    'a subscription is pruned that was updated meanwhile',
    {
      world: (world) =>
        withCondition(world, 'updatedAt < :updatedBefore', 'attribute_exists(endpointHash)'),
    },
    'subscriptions pruned',
    'registration changed',
  ],
  successorIsUntouched: [
    'a later project owns what the earlier one with its id owned',
    {
      world: (world) => {
        world.successorRef = firstRef;
      },
    },
    'project deleted',
    'project created again',
  ],
};

const table = Object.entries(breakages).map(([name, [how, breakage, ...favoured]]) => ({
  ...{ name, how, breakage, favoured },
}));

test.each(table)(
  '$name finds that $how',
  async ({ name, breakage, favoured }) => {
    for (let seed = 1; seed <= mostSeeds; seed += 1) {
      const report = await broken(breakage, () => simulate(seed, { favoured, breakage }));
      if (violations(report).some(({ invariant }) => invariant === name)) return;
    }
    throw new Error(`No violation of ${name} in ${mostSeeds} runs.`);
  },
  300_000,
);

/** Faults with which breakages are found, without those that are all in another entry. */
const sets = table
  .map(({ favoured }) => favoured)
  .filter((one) => one.length > 0)
  .filter((one, _, all) => !all.some((other) => isSubset(one, other) && other.length > one.length));

test.each(sets.map((favoured) => ({ favoured })))(
  'the code keeps all invariants with $favoured',
  async ({ favoured }) => {
    await simulateSends(1, unbrokenSeeds, { favoured });
  },
  120_000,
);

function isSubset(one: readonly Fault[], other: readonly Fault[]): boolean {
  return one.every((fault) => other.includes(fault));
}

/** Runs with other times. */
async function broken<Result>(
  { sendTimes = {}, sliceTimes = {}, sizes = {} }: Broken,
  run: () => Promise<Result>,
): Promise<Result> {
  const [ofSend, ofSlices, usual] = [{ ...sendTimeline }, { ...sliceTimeline }, { ...sliceSizes }];
  Object.assign(sendTimeline, sendTimes);
  Object.assign(sliceTimeline, sliceTimes);
  Object.assign(sliceSizes, sizes);
  try {
    return await run();
  } finally {
    Object.assign(sendTimeline, ofSend);
    Object.assign(sliceTimeline, ofSlices);
    Object.assign(sliceSizes, usual);
  }
}

/** Changes the responses with a status. */
function told(status: number, change: (response: Response) => Partial<Response>): Broken {
  return {
    response: (response) =>
      response.status === status ? { ...response, ...change(response) } : response,
  };
}

interface Write {
  readonly UpdateExpression?: string;
  readonly ConditionExpression?: string | undefined;
  readonly ExpressionAttributeValues?: Item;
}

/** Changes what functions write of slices. */
function writes(change: (write: Write) => Write): Broken {
  return {
    world: (world) =>
      executing(world, (command, execute) =>
        execute(isSliceWrite(command) ? withInput(command, change(command.input)) : command),
      ),
  };
}

function withValues(write: Write, changed: Item): Write {
  return {
    ...write,
    ExpressionAttributeValues: { ...write.ExpressionAttributeValues, ...changed },
  };
}

function withoutEnd(write: Write): Write {
  return { ...write, UpdateExpression: write.UpdateExpression!.replace('#ended = :ended, ', '') };
}

function claimedIn(write: Write): number {
  return write.ExpressionAttributeValues?.[':claimed'] as number;
}

function untilIn(write: Write): number {
  return write.ExpressionAttributeValues?.[':leasedUntil'] as number;
}

const nobody = noCounts;

/** Counts, as values of a write. */
function values(stored: Counts): Item {
  return Object.fromEntries(Object.entries(stored).map(([name, value]) => [`:${name}`, value]));
}

/** Changes the counts that functions write. */
function counts(change: (stored: Counts, claimed: number) => Counts): Broken {
  return writes((write) => {
    const stored = Object.fromEntries(
      Object.keys(nobody).map((name) => [name, write.ExpressionAttributeValues![`:${name}`]]),
    ) as unknown as Counts;
    return withValues(write, values(change(stored, claimedIn(write))));
  });
}

/** Changes what is asked of a table. */
function queries(change: (query: { readonly FilterExpression?: string }) => object): Broken {
  return {
    world: (world) =>
      executing(world, (command, execute) =>
        execute(
          command instanceof QueryCommand ? withInput(command, change(command.input)) : command,
        ),
      ),
  };
}

/** Changes what functions read of the project and its keys. */
function readingProjects(
  world: World,
  change: (items: readonly (Item | undefined)[]) => readonly (Item | undefined)[],
): void {
  executing(world, (command, execute) => {
    const result = execute(command) as { Responses: { Item?: Item }[] };
    if (!(command instanceof TransactGetCommand)) return result;
    return {
      Responses: change(result.Responses.map(({ Item }) => Item)).map((Item) => ({ Item })),
    };
  });
}

/** Returns the project as it was read first. */
function rememberProject(world: World): void {
  let first: readonly (Item | undefined)[] | undefined;
  readingProjects(world, (items) => {
    first ??= items;
    return first;
  });
}

/** One recipient of each slice is not read, and counts as delivered. */
function deliverUnread(world: World): void {
  let unread = 0;
  executing(world, (command, execute) => {
    if (isSliceWrite(command)) {
      const { ExpressionAttributeValues: stored } = command.input as Write;
      const [claimed, attempted, delivered] = [':claimed', ':attempted', ':delivered'].map(
        (name) => (stored![name] as number) + unread,
      );
      const more = { ':claimed': claimed, ':attempted': attempted, ':delivered': delivered };
      return execute(withInput(command, withValues(command.input, more)));
    }
    const result = execute(command) as { Items?: object[] };
    const isRead =
      command instanceof QueryCommand && command.input.TableName === tables.subscriptions;
    if (!isRead || unread > 0 || !result.Items?.length) return result;
    unread = 1;
    return { ...result, Items: result.Items.slice(1) };
  });
}

/** Who is refused because of a stop reads that its lease has ended. */
function endLeasesOfStopped(world: World): void {
  executing(world, (command, execute) => {
    try {
      return execute(command);
    } catch (error) {
      const { Item } = error as { Item?: Item };
      if (!isSliceWrite(command) || Item?.stoppedAt === undefined) throw error;
      throw Object.assign(error as Error, { Item: { ...Item, leasedUntil: 0 } });
    }
  });
}

type TransactionWrite = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

function isReturnOfUnit({ Update }: TransactionWrite): boolean {
  return Update?.UpdateExpression === 'ADD used :givenBack';
}

/** Stores the current key pair of each subscription that the operator's command has just read. */
function correctWhatIsRead(world: World): void {
  executing(world, (command, execute) => {
    const result = execute(command) as { Items?: { endpointHash: Uint8Array }[] };
    const { FilterExpression, ExpressionAttributeValues: values } = command.input as {
      FilterExpression?: string;
      ExpressionAttributeValues?: Record<string, unknown>;
    };
    if (!FilterExpression?.includes('vapidPairNumber')) return result;
    for (const { endpointHash } of result.Items ?? []) {
      const input = {
        TableName: tables.subscriptions,
        Key: { projectPart: values![':part'], endpointHash },
        UpdateExpression: 'SET vapidPairNumber = :one',
        ExpressionAttributeValues: { ':one': 1 },
      };
      execute(new UpdateCommand(input));
    }
    return result;
  });
}

/** Replaces a condition of a write. */
function withCondition(world: World, condition: string, replaced: string): void {
  const change = <Write extends object>(write: Write): Write =>
    'ConditionExpression' in write && write.ConditionExpression === condition
      ? { ...write, ConditionExpression: replaced }
      : write;
  executing(world, (command, execute) => {
    if (!(command instanceof TransactWriteCommand)) {
      return execute(withInput(command, change(command.input)));
    }
    const { TransactItems = [] } = command.input;
    const changed = TransactItems.map((item) =>
      Object.fromEntries(Object.entries(item).map(([kind, write]) => [kind, change(write)])),
    );
    return execute(withInput(command, { ...command.input, TransactItems: changed }));
  });
}

/** Leaves out writes of transactions. */
function dropWrites(world: World, isDropped: (write: TransactionWrite) => boolean): void {
  executing(world, (command, execute) => {
    if (!(command instanceof TransactWriteCommand)) return execute(command);
    const { TransactItems = [] } = command.input;
    const kept = TransactItems.filter((write) => !isDropped(write));
    return execute(withInput(command, { ...command.input, TransactItems: kept }));
  });
}

/** Executes commands in another way. */
function executing(
  { database }: World,
  change: (command: DatabaseCommand, execute: MemoryDatabase['execute']) => object,
): void {
  const execute = database.execute.bind(database);
  database.execute = (command) => change(command, execute);
}
