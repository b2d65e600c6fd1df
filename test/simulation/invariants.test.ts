import { TransactGetCommand } from '@aws-sdk/lib-dynamodb';
import { type Counts, noCounts } from '../../contract/counts.ts';
import type { ShareDependencies } from '../../lambdas/deliver/deliver-share.ts';
import type { Pusher, PusherOptions, StartPushing } from '../../lambdas/push/pushing/pusher.ts';
import type { TallyStore } from '../../lambdas/store/tallies.ts';
import { type InvariantName, violations } from './invariants.ts';
import { type Breakage, simulate } from './simulation.ts';
import { useSmallLimits } from './small-limits.ts';
import type { World } from './world.ts';

/** Seeds that are tried. */
const mostSeeds = 200;

beforeAll(useSmallLimits);

/** For each invariant, code that breaks it. */
const breakages: Readonly<Record<InvariantName, readonly [how: string, Breakage]>> = {
  pushedOnce: [
    'every invocation gets the share',
    tallies(({ save }) => ({
      save: async (...call) => {
        await save(...call);
        return undefined;
      },
    })),
  ],
  onlyAudienceIsPushed: [
    'conditions are not passed to the database',
    {
      deps: (deps) => {
        const { audiences } = deps;
        const everyone: typeof audiences.everyone = (projectId, range, options) =>
          audiences.everyone(projectId, range, {
            ...options,
            channels: undefined,
            seenSince: undefined,
          });
        return { ...deps, audiences: { ...audiences, everyone } };
      },
    },
  ],
  noPushAfterItsTime: [
    'pushes start 5 s longer',
    {
      ...pushing((original) => (options) => original(longer(options, 5000, 0))),
      world: ({ faults }) => faults.favour('push throttled with Retry-After'),
    },
  ],
  asyncReachesEveryone: [
    'the end of a share is not stored',
    tallies(({ save }) => ({
      save: (key, writer, progress, signal) =>
        save(key, writer, { ...progress, ended: undefined }, signal),
    })),
  ],
  everyoneIsCounted: ['one recipient of a chunk is not read', { deps: withoutOneRecipient }],
  attemptedMeansPushed: [
    'one recipient counts as delivered without a push',
    pushing((original) => (options) => {
      let left = 0;
      const pusher = reporting(original(options), (report) => ({
        ...report,
        attempted: report.attempted + left,
        delivered: report.delivered + left,
      }));
      const add: typeof pusher.add = (recipients, vapid) => {
        left += Math.min(1, recipients.length);
        pusher.add(recipients.slice(1), vapid);
      };
      return Object.assign(Object.create(pusher), { add });
    }),
  ],
  countsAddUp: [
    'one more counts as attempted',
    reports((report) => ({ ...report, attempted: report.attempted + 1 })),
  ],
  talliesAddUpToResponse: [
    'counts are not stored',
    tallies(({ save }) => ({
      save: (key, writer, progress, signal) =>
        save(key, writer, { ...progress, counts: noCounts }, signal),
    })),
  ],
  textsAreTheirOwn: [
    'every user gets the values of the first',
    {
      deps: (deps) => {
        const users: typeof deps.audiences.users = async (...call) => {
          const read = await deps.audiences.users(...call);
          return { ...read, recipients: read.recipients.map((one) => ({ ...one, user: 0 })) };
        };
        return { ...deps, audiences: { ...deps.audiences, users } };
      },
    },
  ],
  reachedIsTrue: [
    'it is not stored who was reached',
    tallies(({ save }) => ({
      save: (key, writer, progress, signal) =>
        save(key, writer, { ...progress, reached: undefined }, signal),
    })),
  ],
  monthCounterIsExact: [
    'a cancelled send does not return its unit',
    { world: (world) => dropWrites(world, isReturnOfUnit) },
  ],
  subscriberCountersAreExact: [
    'a removal does not change the counter',
    { world: (world) => dropWrites(world, isReturnOfUnit) },
  ],
  acceptedIsStored: [
    'a send begins without being stored',
    {
      deps: (deps) =>
        deps.sends === undefined
          ? deps
          : { ...deps, sends: { ...deps.sends, begin: async () => 'begun' } },
    },
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
    {
      deps: (deps) => {
        const { sends } = deps;
        if (sends === undefined) return deps;
        const begin: typeof sends.begin = (notification, ...rest) =>
          sends.begin({ ...notification, idempotency: undefined }, ...rest);
        return { ...deps, sends: { ...sends, begin } };
      },
    },
  ],
  respondsInTime: [
    'a pusher may take 10 s longer',
    {
      ...pushing((original) => (options) => original(longer(options, 10_000, 10_000))),
      world: ({ faults }) => faults.favour('slow push', 'push throttled'),
    },
  ],
  everyNotificationEnds: [
    'a claim lasts for days',
    tallies(({ save }) => ({
      save: (key, writer, progress, signal) =>
        save(key, writer, { ...progress, until: progress.until + 1e9 }, signal),
    })),
  ],
  statusIsFinal: [
    'a claim is stored as shorter than it is',
    tallies(({ save }) => ({
      save: (key, writer, progress, signal) =>
        save(key, writer, { ...progress, until: progress.until - 30_000 }, signal),
    })),
  ],
  noPushAfterStop: [
    'functions never notice a stop',
    {
      ...tallies(({ save }) => ({
        save: (key, writer, progress, signal) =>
          save(key, { ...writer, knowsStop: true }, progress, signal),
      })),
      world: ({ faults }) => faults.favour('slow push'),
    },
  ],
  stoppedIsFinal: [
    'a stop is not seen in the result of a share',
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

function tallies(change: (store: TallyStore) => Partial<TallyStore>): Breakage {
  return {
    deps: (deps) => ({
      ...deps,
      tallies: { ...deps.tallies, ...change(deps.tallies) },
    }),
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
      get lastRetryAt() {
        return times.lastRetryAt + lastPushMs;
      },
      get endAt() {
        return times.endAt + endMs;
      },
    },
  };
}

function withoutOneRecipient<Dependencies extends ShareDependencies>(
  deps: Dependencies,
): Dependencies {
  const { audiences } = deps;
  const everyone: typeof audiences.everyone = async (...call) => {
    const read = await audiences.everyone(...call);
    return { ...read, recipients: read.recipients.slice(1) };
  };
  return { ...deps, audiences: { ...audiences, everyone } };
}

/** Returns the project as it was read first. */
function rememberProject({ database, faults }: World): void {
  faults.favour('project deleted', 'project created again', 'host died', 'late repetition');
  const execute = database.execute.bind(database);
  let first: object | undefined;
  database.execute = (command) => {
    if (!(command instanceof TransactGetCommand)) return execute(command);
    first ??= execute(command);
    return first;
  };
}

interface TransactionWrite {
  readonly Update?: { readonly UpdateExpression: string };
  readonly ConditionCheck?: object;
}

function isReturnOfUnit({ Update }: TransactionWrite): boolean {
  return Update?.UpdateExpression === 'ADD used :givenBack';
}

/** Leaves out writes of transactions. */
function dropWrites({ database }: World, isDropped: (write: TransactionWrite) => boolean): void {
  const execute = database.execute.bind(database);
  database.execute = (command) => {
    const { TransactItems } = command.input as { TransactItems?: TransactionWrite[] };
    if (TransactItems === undefined || command instanceof TransactGetCommand) {
      return execute(command);
    }
    const kept = TransactItems.filter((write) => !isDropped(write));
    const input = { ...command.input, TransactItems: kept };
    return execute(Object.assign(Object.create(command), { input }));
  };
}
