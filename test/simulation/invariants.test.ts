import {
  TransactGetCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { type Counts, noCounts } from '../../contract/counts.ts';
import type { DeliverDependencies } from '../../lambdas/deliver/deliver.ts';
import type { Pusher, PusherOptions, StartPushing } from '../../lambdas/push/pushing/pusher.ts';
import type { SendStore } from '../../lambdas/store/sends.ts';
import type { SliceStore, SliceWrite } from '../../lambdas/store/slices.ts';
import { type DatabaseCommand, type MemoryDatabase, tables } from './database/memory-database.ts';
import { withInput } from './function-run.ts';
import { type InvariantName, violations } from './invariants.ts';
import { type Breakage, firstRef, simulate } from './simulation.ts';
import { useSmallLimits } from './small-limits.ts';
import type { World } from './world.ts';

/** Seeds that are tried. */
const mostSeeds = 200;

beforeAll(useSmallLimits);

/** For each invariant, code that breaks it. */
const breakages: Readonly<Record<InvariantName, readonly [how: string, Breakage]>> = {
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
    {
      ...pushing((original) => (options) => original(longer(options, 5000, 0))),
      world: ({ faults }) => faults.favour('push throttled with Retry-After'),
    },
  ],
  asyncReachesEveryone: [
    'the end of a slice is not stored',
    writes((lease) => ({ ...lease, ended: undefined })),
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
    {
      ...pushing((original) => (options) => original(longer(options, 10_000, 10_000))),
      world: ({ faults }) => faults.favour('slow push', 'push throttled'),
    },
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
    {
      ...writes((lease) => ({ ...lease, event: { ...lease.event, knowsStop: true } })),
      world: ({ faults }) => faults.favour('slow push'),
    },
  ],
  stoppedIsFinal: [
    'a stop is not seen in the result of a slice',
    {
      notification: (found) => (found.status === 'stopped' ? { ...found, status: 'sent' } : found),
    },
  ],
  deletedProjectIsSilent: ['functions never notice a deletion', { world: rememberProject }],
  deletedProjectLeavesNothing: [
    'a send begins without a look at its project',
    {
      world: (world) => {
        world.faults.favour('project deleted');
        dropWrites(world, ({ ConditionCheck }) => ConditionCheck !== undefined);
      },
    },
  ],
  newestRegistrationIsStored: [
    'an older registration replaces a newer one',
    {
      world: (world) => {
        world.faults.favour('registration changed', 'late write');
        withCondition(
          world,
          '(updatedAt <= :requestedAt OR updatedAt > :wrong)',
          'attribute_exists(endpointHash)',
        );
      },
    },
  ],
  keyPairIsFound: [
    'a push is always signed with the current key pair',
    {
      ...pushing((original) => (options) => {
        const pusher = original(options);
        return adding(pusher, (recipients, { current, previous }, readAt) => {
          const same = previous && { ...previous, publicKey: current.publicKey };
          pusher.add(recipients, { current, previous: same }, readAt);
        });
      }),
      world: ({ faults }) => faults.favour('wrong key pair'),
    },
  ],
  dropRemovesOnlyItsPair: [
    'a subscription is removed that was corrected meanwhile',
    {
      world: (world) => {
        world.faults.favour('key pair dropped');
        correctWhatIsRead(world);
        withCondition(
          world,
          'attribute_exists(endpointHash) AND (attribute_not_exists(vapidPairNumber) OR vapidPairNumber < :current)',
          'attribute_exists(endpointHash)',
        );
      },
    },
  ],
  onlyTheDeviceIsRemoved: [
    'a device is removed that has passed to another user',
    {
      world: (world) => {
        world.faults.favour('device removed', 'registration changed');
        withCondition(world, 'projectUser = :user', 'attribute_exists(endpointHash)');
      },
    },
  ],
  pruneRemovesOnlyUnseen: [
    'a subscription is pruned that was updated meanwhile',
    {
      world: (world) => {
        world.faults.favour('subscriptions pruned', 'registration changed');
        withCondition(world, 'updatedAt < :before', 'attribute_exists(endpointHash)');
      },
    },
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
        world.faults.favour('project deleted', 'project created again');
        world.successorRef = firstRef;
      },
    },
  ],
};

test.each(Object.entries(breakages).map(([name, [how, breakage]]) => ({ name, how, breakage })))(
  '$name finds that $how',
  async ({ name, breakage }) => {
    for (let seed = 1; seed <= mostSeeds; seed += 1) {
      const broken = violations(await simulate(seed, { breakage }));
      if (broken.some(({ invariant }) => invariant === name)) return;
    }
    throw new Error(`No violation of ${name} in ${mostSeeds} runs.`);
  },
  120_000,
);

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
  world.faults.favour('project deleted', 'slow push', 'push throttled with Retry-After');
  let first: object | undefined;
  executing(world, (command, execute) => {
    if (!(command instanceof TransactGetCommand)) return execute(command);
    first ??= execute(command);
    return first;
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
