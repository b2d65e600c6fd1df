import {
  TransactGetCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { type Counts, noCounts } from '../../contract/wire/counts.ts';
import type { DeliverDependencies } from '../../lambdas/deliver/deliver.ts';
import type { Pusher, PusherOptions, StartPushing } from '../../lambdas/push/pushing/pusher.ts';
import type { SendStore } from '../../lambdas/store/sends.ts';
import type { SliceStore, SliceWrite } from '../../lambdas/store/slices.ts';
import { type DatabaseCommand, type MemoryDatabase, tables } from './database/memory-database.ts';
import type { Fault } from './faults.ts';
import { withInput } from './function-run.ts';
import { type InvariantName, violations } from './invariants.ts';
import { simulateSends } from './simulated-sends.ts';
import { type Breakage, firstRef, simulate } from './simulation.ts';
import { useSmallLimits } from './small-limits.ts';
import type { World } from './world.ts';

/** Seeds that are tried with a breakage. One needs 57, the others up to 21. */
const mostSeeds = 100;
/** Seeds that are tried without one. */
const unbrokenSeeds = 25;

beforeAll(useSmallLimits);

/** For each invariant, code that breaks it. */
const breakages: Readonly<
  Record<InvariantName, readonly [how: string, Breakage, ...favoured: readonly Fault[]]>
> = {
  pushedOnce: [
    'every invocation gets the slice',
    slices((write) => async (...call) => {
      await write(...call);
      return undefined;
    }),
  ],
  onlyAudienceIsPushed: [
    'conditions are not passed to the database',
    audiences(({ everyone }) => ({
      everyone: (project, range, options) =>
        everyone(project, range, { ...options, conditions: {} }),
    })),
  ],
  noPushAfterItsTime: [
    'pushes start 5 s longer',
    pushing((original) => (options) => original(longer(options, 5000, 0))),
    'late start',
    'push throttled with Retry-After',
  ],
  asyncReachesEveryone: [
    'the end of a slice is not stored',
    writes((lease) => ({ ...lease, ended: undefined })),
  ],
  attemptsAreUsed: [
    'a function believes that its time is over after a minute',
    { sliceMs: 60_000 },
    'slow delivery',
  ],
  waitingReachesEveryone: [
    'pushes end 20 s early',
    pushing((original) => (options) => original(longer(options, -20_000, 0))),
    'slow push',
  ],
  repetitionResumes: [
    'a send is kept whose request has got an error',
    {
      ...pushing((original) => (options) => original(longer(options, -20_000, 0))),
      response: (response) =>
        response.outcome.kind === 'sent' && response.call.requestId === 'request-1'
          ? { ...response, outcome: { kind: 'error', code: 'unavailable' } }
          : response,
    },
    'slow push',
    'request repeated later',
  ],
  interruptedMeansLost: [
    'a recipient counts as pending until the end',
    writes((lease) => ({ ...lease, claimed: lease.claimed + 1 })),
  ],
  everyoneIsCounted: [
    'one recipient of a chunk is not read',
    audiences(({ everyone }) => ({
      everyone: async (...call) => {
        const read = await everyone(...call);
        return { ...read, recipients: read.recipients.slice(1) };
      },
    })),
  ],
  attemptedMeansPushed: [
    'one recipient counts as delivered without a push',
    pushing((original) => (options) => {
      let left = 0;
      const pusher = reporting(original(options), (report) => ({
        ...report,
        attempted: report.attempted + left,
        delivered: report.delivered + left,
      }));
      return adding(pusher, (recipients, ...rest) => {
        left += Math.min(1, recipients.length);
        pusher.add(recipients.slice(1), ...rest);
      });
    }),
  ],
  countsAddUp: [
    'one more counts as attempted',
    reports((report) => ({ ...report, attempted: report.attempted + 1 })),
  ],
  slicesAddUpToResponse: [
    'counts are not stored',
    writes((lease) => ({ ...lease, counts: noCounts })),
  ],
  textsAreTheirOwn: [
    'every user gets the values of the first',
    audiences(({ users }) => ({
      users: async (...call) => {
        const read = await users(...call);
        return { ...read, recipients: read.recipients.map((one) => ({ ...one, user: 0 })) };
      },
    })),
  ],
  reachedIsTrue: [
    'it is not stored who was reached',
    writes((lease) => ({ ...lease, reached: undefined })),
  ],
  monthCounterIsExact: [
    'a cancelled send does not return its unit',
    {
      world: (world) => {
        world.faults.favour('late start', 'outage of a table');
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
    begins(() => async () => 'cap_reached' as const),
  ],
  acceptedIsStored: [
    'a send begins without being stored',
    begins(() => async () => 'begun' as const),
  ],
  errorMeansNothingWasSent: [
    'attempted recipients count as unreached',
    reports((report) => ({
      ...noCounts,
      unreached: report.attempted + report.unreached,
    })),
  ],
  countsAreTrue: [
    'failed recipients count as delivered',
    reports((report) => ({
      ...report,
      delivered: report.delivered + report.failed,
      failed: 0,
      failures: {},
    })),
  ],
  repeatedIsSentOnce: [
    'idempotency keys are ignored',
    begins(
      (begin) =>
        (notification, ...rest) =>
          begin({ ...notification, keyed: undefined }, ...rest),
    ),
  ],
  respondsInTime: [
    'a pusher may take 10 s longer',
    pushing((original) => (options) => original(longer(options, 10_000, 10_000))),
    'late start',
    'slow push',
    'push throttled',
  ],
  everyNotificationEnds: [
    'a lease lasts for days',
    writes((lease) => ({ ...lease, until: lease.until + 1e9 })),
  ],
  statusIsFinal: [
    'a lease is stored as shorter than it is',
    writes((lease) => ({ ...lease, until: lease.until - 30_000 })),
  ],
  noPushAfterStop: [
    'functions never notice a stop',
    writes((lease) => ({ ...lease, event: { ...lease.event, knowsStop: true } })),
    'slow push',
  ],
  stoppedIsFinal: [
    'a stop is not seen in the result of a slice',
    {
      notification: (found) => (found.status === 'stopped' ? { ...found, status: 'sent' } : found),
    },
  ],
  deletedProjectIsSilent: [
    'functions never notice a deletion',
    { world: rememberProject },
    'project deleted',
    'slow push',
    'push throttled with Retry-After',
  ],
  deletedProjectLeavesNothing: [
    'a send begins without a look at its project',
    {
      world: (world) => dropWrites(world, ({ ConditionCheck }) => ConditionCheck !== undefined),
    },
    'project deleted',
  ],
  newestRegistrationIsStored: [
    'an older registration replaces a newer one',
    {
      world: (world) =>
        withCondition(
          world,
          '(updatedAt <= :requestedAt OR updatedAt > :wrong)',
          'attribute_exists(endpointHash)',
        ),
    },
    'registration changed',
    'requests overlap',
    'held request',
  ],
  removedStaysRemoved: [
    'every second read finds a project that was removed',
    { world: findEverySecondTime },
    'project deleted',
    'slow push',
  ],
  keyPairIsFound: [
    'a push is always signed with the current key pair',
    pushing((original) => (options) => {
      const pusher = original(options);
      return adding(pusher, (recipients, { current, previous }, readAt) => {
        const same = previous && { ...previous, publicKey: current.publicKey };
        pusher.add(recipients, { current, previous: same }, readAt);
      });
    }),
    'wrong key pair',
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
  onlyTheDeviceIsRemoved: [
    'a device is removed that has passed to another user',
    {
      world: (world) =>
        withCondition(world, 'projectUser = :user', 'attribute_exists(endpointHash)'),
    },
    'device removed',
    'registration changed',
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
  callsAreFew: [
    'a function waits for a millisecond at most',
    {
      deps: (deps) => ({
        ...deps,
        sleep: (ms, signal) => deps.sleep(Math.min(ms, 1), signal),
      }),
    },
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
      const broken = violations(await simulate(seed, { favoured, breakage }));
      if (broken.some(({ invariant }) => invariant === name)) return;
    }
    throw new Error(`No violation of ${name} in ${mostSeeds} runs.`);
  },
  120_000,
);

/** Faults with which breakages are found, without those that are all in another entry. */
const sets = table
  .map(({ favoured }) => favoured)
  .filter((one) => one.length > 0)
  .filter((one, _, all) => !all.some((other) => isSubset(one, other) && other.length > one.length));

test.each(sets.map((favoured) => ({ favoured })))(
  'the code keeps all invariants with $favoured',
  ({ favoured }) => simulateSends(1, unbrokenSeeds, { favoured }),
  120_000,
);

function isSubset(one: readonly Fault[], other: readonly Fault[]): boolean {
  return one.every((fault) => other.includes(fault));
}

/** Reads the audience in another way. */
function audiences(
  change: (store: DeliverDependencies['audiences']) => Partial<DeliverDependencies['audiences']>,
): Breakage {
  return {
    deps: (deps) => ({ ...deps, audiences: { ...deps.audiences, ...change(deps.audiences) } }),
  };
}

/** Stores slices in another way. */
function slices(change: (write: SliceStore['write']) => SliceStore['write']): Breakage {
  return {
    deps: (deps) => ({ ...deps, slices: { ...deps.slices, write: change(deps.slices.write) } }),
  };
}

/** Stores something else of slices. */
function writes(change: (write: SliceWrite) => SliceWrite): Breakage {
  return slices((write) => (key, one, signal) => write(key, change(one), signal));
}

/** Begins sends in another way. */
function begins(change: (begin: SendStore['begin']) => SendStore['begin']): Breakage {
  return {
    deps: (deps) =>
      deps.sends === undefined
        ? deps
        : { ...deps, sends: { ...deps.sends, begin: change(deps.sends.begin) } },
  };
}

function pushing(change: (original: StartPushing) => StartPushing): Breakage {
  return {
    deps: (deps) => ({
      ...deps,
      startPushing: change(deps.startPushing),
    }),
  };
}

function reports(change: (report: Counts) => Counts): Breakage {
  return pushing((original) => (options) => reporting(original(options), change));
}

/** A pusher to which recipients are added in another way. */
function adding(pusher: Pusher, add: Pusher['add']): Pusher {
  return { ...reporting(pusher, (report) => report), add };
}

/** A pusher with other counts. */
function reporting(pusher: Pusher, change: (report: Counts) => Counts): Pusher {
  return {
    add: (...call) => pusher.add(...call),
    wantsMore: () => pusher.wantsMore(),
    stop: () => pusher.stop(),
    soFar: () => change(pusher.soFar()),
    end: async () => change(await pusher.end()),
  };
}

function longer(options: PusherOptions, lastPushMs: number, endMs: number): PusherOptions {
  const { times } = options;
  return {
    ...options,
    times: {
      get lastPushAt() {
        return times.lastPushAt + lastPushMs;
      },
      get pausesAt() {
        return times.pausesAt;
      },
      get endAt() {
        return times.endAt + endMs;
      },
    },
  };
}

/** Returns the project as it was read first. */
function rememberProject(world: World): void {
  let first: object | undefined;
  executing(world, (command, execute) => {
    if (!(command instanceof TransactGetCommand)) return execute(command);
    first ??= execute(command);
    return first;
  });
}

/** Finds a project that was removed every second time. */
function findEverySecondTime(world: World): void {
  let stored: object | undefined;
  let isFound = false;
  executing(world, (command, execute) => {
    if (!(command instanceof TransactGetCommand)) return execute(command);
    const result = execute(command);
    if (world.removedAt === undefined) stored = result;
    else isFound = !isFound;
    return isFound ? stored! : result;
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
