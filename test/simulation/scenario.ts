import { sliceSizes } from '../../contract/infrastructure/delivery.ts';
import type { Choice } from '../../contract/wire/fields.ts';
import type { ParsedSendRequest } from '../../contract/wire/notification.ts';
import {
  chosenMembers,
  dayMs,
  seenDays,
  simulatedConditions,
  translationsOf,
} from './conditions.ts';
import { tables } from './database/memory-database.ts';
import { origins } from './push-services.ts';
import { functionPace } from './scale.ts';
import type { Random } from './time/random.ts';
import { monthEnd, type World } from './world.ts';

/** A browser that may subscribe. */
export interface Browser {
  readonly choice: Choice;
  readonly origin: string;
  readonly path: string;
  /** Further requests to subscribe, each some ms after the response to the one before. */
  readonly changes: readonly { readonly choice: Choice; readonly afterMs: number }[];
  /** Ms before the start at which it was seen, if it has subscribed long before. */
  readonly seenAgoMs: number;
  /** Ms after the start at which it subscribes; 0 if it has subscribed long before. */
  readonly subscribesAt: number;
  /** Ms after the start at which it unsubscribes. */
  readonly unsubscribesAt: number | undefined;
  /** Whether its subscription no longer exists at the push service. */
  readonly isGone: boolean;
  /** Number of the key pair that it was made with, and of the one that is stored. */
  readonly vapidPairNumber: number;
  readonly storedPairNumber: number;
}

/** A request to send. */
export interface Call {
  readonly requestId: string;
  /** Ms after the start. */
  readonly at: number;
  readonly request: ParsedSendRequest;
  readonly idempotencyKey: string | undefined;
  readonly respondAsync: boolean;
  /** Whose key it has. */
  readonly sender: 'owner' | 'member';
}

export interface DeviceRemoval {
  readonly at: number;
  readonly userId: string;
  readonly origin: string;
  readonly path: string;
}

export interface Scenario {
  readonly browsers: readonly Browser[];
  /** More are added in the course of time: callers repeat what has failed. */
  readonly calls: Call[];
  /** Ms after the start at which the owner stops a notification. */
  readonly stops: readonly number[];
  /** Ms after the start at which the owner removes a user. */
  readonly userRemovals: readonly { readonly at: number; readonly userId: string }[];
  /** Ms after the start at which the owner removes a device, which may be that of another user by then. */
  readonly deviceRemovals: readonly DeviceRemoval[];
  /** At least its first subscribers. */
  readonly subscriberCap: number | null;
  readonly monthlyCap: number | null;
  /** What the operator does with the project, one command after another, some ms after the start. */
  readonly commands: readonly OperatorCommand[];
  readonly pushesPerSecond: number;
  /** Whether deliveries need all attempts of Lambda. */
  readonly isSlow: boolean;
  /** Ms after the start. */
  readonly projectDeletedAt: number | undefined;
}

export type OperatorCommand = { readonly at: number } & (
  | {
      readonly kind: 'limits';
      readonly subscriberCap: number | null;
      readonly monthlySendCap: number | null;
    }
  | { readonly kind: 'drop previous pair'; readonly isRemembered: boolean }
  | { readonly kind: 'rotate pair' | 'revoke member' | 'pause' | 'resume' | 'recount' }
  /** Epoch ms. */
  | { readonly kind: 'prune'; readonly before: number }
);

const users = ['ann', 'bob', 'cem', 'dot', 'eve'];

export function randomScenario(world: World): Scenario {
  const { faults } = world;
  const random = world.stream('scenario');
  const loweredCap = faults.occurs('cap lowered') ? someLoweredCap(world) : undefined;
  const isSlow = loweredCap === undefined && faults.occurs('slow delivery');
  const someSubscribers = random.pick([0, 1, 3, 8, 8, 13, 13, 20, 20, 20, 30, 40]);
  const subscribers = loweredCap?.subscribers ?? (isSlow ? slowSubscribers : someSubscribers);
  const durationMs = random.pick([100, 5000, 40_000]);
  const timeIn = (stream: Random) => stream.between(0, durationMs);
  const some = faults.occurs('subscriber added') ? world.stream('newcomers').integer(1, 4) : 0;
  const newcomers = loweredCap?.newcomers ?? some;
  const browsersOf = new Map<string, number>();
  /** Of more browsers of one user than fit a chunk, delivery reaches only those of one chunk. */
  const someUser = (random: Random) => {
    const userId = random.pick(users);
    const number = (browsersOf.get(userId) ?? 0) + 1;
    browsersOf.set(userId, number);
    return number > sliceSizes.chunk ? undefined : userId;
  };
  const someChoice = (random: Random): Choice => ({
    userId: random.chance(0.5) ? someUser(random) : undefined,
    ...chosenMembers(random),
  });
  const browsers = Array.from({ length: subscribers + newcomers }, (_, index): Browser => {
    const random = world.stream(`browser ${index}`);
    const changes = world.stream(`changes of browser ${index}`);
    const someChange = () => ({ choice: someChoice(changes), afterMs: timeIn(changes) });
    const isNew = index >= subscribers;
    const comesAt = loweredCap === undefined ? timeIn(random) : random.between(45_000, 60_000);
    const subscribesAt = isNew ? comesAt : 0;
    const leaves = index % 4 === 0 && faults.occurs('subscriber removed');
    const vapidPairNumber = random.integer(0, 1);
    return {
      origin: random.pick(origins),
      path: `/browser/${index}`,
      choice: someChoice(random),
      changes: faults.occurs('registration changed')
        ? Array.from({ length: changes.integer(1, 3) }, someChange)
        : [],
      // Some are seen until a few seconds after the start.
      seenAgoMs: random.pick([
        ...[0, 30 * dayMs],
        (seenDays + 1) * dayMs - random.integer(0, durationMs),
      ]),
      subscribesAt,
      unsubscribesAt:
        leaves || index < (loweredCap?.leaving ?? 0)
          ? subscribesAt + world.stream('subscribers that leave').between(1000, durationMs)
          : undefined,
      isGone: faults.occurs('subscription gone'),
      vapidPairNumber,
      storedPairNumber: faults.occurs('wrong key pair') ? 1 - vapidPairNumber : vapidPairNumber,
    };
  });
  const outage = (stream: Random) => {
    const from = world.startsAt + timeIn(stream);
    return { from, to: from + stream.latency(200, 40_000) };
  };
  const ofTables = world.stream('outages of tables');
  const tableOutage = () => ({
    ...outage(ofTables),
    table: ofTables.pick(Object.values(tables)),
    isOfReads: ofTables.chance(0.5),
  });
  world.outages = [
    ...(faults.occurs('outage') ? [outage(world.stream('outage'))] : []),
    ...(faults.occurs('outage of a table') ? [tableOutage(), tableOutage()] : []),
  ];
  const projectDeletedAt = faults.occurs('project deleted')
    ? timeIn(world.stream('deletion'))
    : undefined;
  if (projectDeletedAt !== undefined && faults.occurs('outage of a table')) {
    // Those who read the project do not notice.
    const from = world.startsAt + projectDeletedAt;
    const unnoticed = { from, to: from + 60_000, table: tables.vapidKeys, isOfReads: true };
    world.outages = [...world.outages, unnoticed];
  }
  const commands =
    loweredCap === undefined ? randomCommands(world, subscribers, timeIn) : [loweredCap.command];
  const removals = world.stream('removals');
  const userRemoval = () => ({ at: timeIn(removals), userId: removals.pick(users) });
  const isMonthEnd = faults.occurs('month ends');
  const calls = randomCalls(world, timeIn, commands, isMonthEnd, isSlow);
  const devices = world.stream('devices');
  const deviceRemoval = (): DeviceRemoval => {
    const { origin, path, choice } = devices.pick(browsers);
    const { userId = devices.pick(users) } = choice;
    // Also while functions push to it.
    const at = devices.chance(0.5)
      ? timeIn(devices)
      : devices.pick(calls).at + devices.latency(5000);
    return { at, userId, origin, path };
  };
  return {
    browsers,
    calls,
    stops: randomStops(world.stream('stops'), calls),
    userRemovals: faults.occurs('user removed') ? [userRemoval()] : [],
    deviceRemovals:
      browsers.length > 0 && faults.occurs('device removed')
        ? Array.from({ length: devices.integer(1, 3) }, deviceRemoval)
        : [],
    subscriberCap: random.pick([null, Math.max(1, subscribers), subscribers + 2]),
    monthlyCap: isMonthEnd ? 1 : random.pick([null, null, 1, 100]),
    commands,
    pushesPerSecond: isSlow
      ? subscribers / slowDeliverySeconds
      : functionPace * random.pick([1, 1, 2, 8]),
    isSlow,
    projectDeletedAt,
  };
}

/**
 * Pushes to everyone take longer than two attempts of Lambda, and less than three. With fewer recipients, those of one
 * chunk may take longer than an attempt leaves for its last.
 */
const slowDeliverySeconds = 1600;
const slowSubscribers = 80;

const minuteMs = 60_000;

/** Many leave after the cap was lowered. Others come when every function knows the new cap. */
function someLoweredCap(world: World) {
  const random = world.stream('lowered cap');
  const subscribers = random.integer(20, 40);
  const subscriberCap = random.integer(3, subscribers - 5);
  const command = { at: 100, kind: 'limits' as const, subscriberCap, monthlySendCap: null };
  const leaving = Math.min(subscribers, subscribers - subscriberCap + random.integer(0, 3));
  return { subscribers, leaving, newcomers: 12, command };
}

/** While a request waits, and also while functions run that were handed the delivery. */
function randomStops(random: Random, calls: readonly Call[]): number[] {
  if (!random.chance(0.3)) return [];
  const afterSome = () =>
    random.pick(calls).at +
    random.pick([random.latency(200), random.between(0, 30_000), random.latency(2000, 600_000)]);
  return Array.from({ length: random.integer(1, 3) }, afterSome);
}

function randomCommands(
  world: World,
  subscribers: number,
  timeIn: (stream: Random) => number,
): OperatorCommand[] {
  const { faults, startsAt } = world;
  const random = world.stream('limits');
  const prune = world.stream('prune');
  const limits = () => ({
    at: timeIn(random),
    kind: 'limits' as const,
    subscriberCap: random.pick([null, Math.max(1, subscribers - 2), subscribers + 3]),
    monthlySendCap: random.pick([null, 1, 2]),
  });
  /** Also when the first request for a notification has ended without having it delivered. */
  const pauseAndResume = (random: Random): OperatorCommand[] => {
    const at = random.chance(0.5) ? timeIn(random) : random.between(30_000, 120_000);
    const resume = { at: at + random.latency(5000, 600_000), kind: 'resume' as const };
    return [{ at, kind: 'pause' }, ...(random.chance(0.5) ? [resume] : [])];
  };
  const commands: OperatorCommand[] = [
    ...(faults.occurs('limits changed') ? [limits(), limits()] : []),
    ...(faults.occurs('key pair dropped')
      ? [
          {
            at: timeIn(world.stream('drop of a pair')),
            kind: 'drop previous pair' as const,
            isRemembered: faults.occurs('key pair remembered'),
          },
        ]
      : []),
    ...(faults.occurs('key pair rotated')
      ? [{ at: timeIn(world.stream('rotation')), kind: 'rotate pair' as const }]
      : []),
    ...(faults.occurs('member key revoked')
      ? [{ at: timeIn(world.stream('revocation')), kind: 'revoke member' as const }]
      : []),
    ...(faults.occurs('project counted')
      ? [{ at: timeIn(world.stream('count')), kind: 'recount' as const }]
      : []),
    ...(faults.occurs('project paused') ? pauseAndResume(world.stream('pause')) : []),
    ...(faults.occurs('subscriptions pruned')
      ? [
          {
            at: timeIn(prune),
            kind: 'prune' as const,
            // Also those that were seen until the start: some are updated while the command runs.
            before: startsAt + prune.pick([-20 * dayMs, 1, timeIn(prune)]),
          },
        ]
      : []),
  ];
  return commands.sort((one, other) => one.at - other.at);
}

function randomCalls(
  world: World,
  timeIn: (stream: Random) => number,
  commands: readonly OperatorCommand[],
  isMonthEnd: boolean,
  isSlow: boolean,
): Call[] {
  const { faults } = world;
  const monthEndsAt = monthEnd - world.startsAt;
  const calls: Call[] = [];
  const add = (call: Omit<Call, 'requestId'>) => {
    calls.push({ ...call, requestId: `request-${calls.length + 1}` });
  };
  const sends = isMonthEnd ? 2 : world.stream('sends').pick([1, 1, 2]);
  for (let send = 1; send <= sends; send += 1) {
    const random = world.stream(`send ${send}`);
    const someUsers = users.slice(0, random.integer(1, users.length));
    // The setting is one push per second at least: users never need more than one attempt of Lambda.
    const userIds = random.chance(0.4) && !isSlow ? someUsers : undefined;
    const isPersonal = userIds !== undefined && random.chance(0.6);
    const title = `Notification ${send}${isPersonal ? ' for {{name}}' : ''}`;
    const isTranslated = world.stream(`translations of send ${send}`).chance(0.3);
    const request: ParsedSendRequest = {
      title,
      ...(isTranslated && { translations: translationsOf(title) }),
      ...(isPersonal
        ? { recipients: userIds.map((userId) => ({ userId, values: { name: userId } })) }
        : { userIds }),
      ...Object.fromEntries(
        Object.entries(simulatedConditions).flatMap(([name, { some }]) => {
          const ofCondition = world.stream(`${name} of send ${send}`);
          return ofCondition.chance(0.2) ? [[name, some(ofCondition)]] : [];
        }),
      ),
    };
    const first = {
      // The last one reaches its function before the month ends, and begins after it.
      at:
        isMonthEnd && send === sends
          ? monthEndsAt - random.between(0, 100)
          : Math.min(timeIn(random), isMonthEnd ? monthEndsAt - 1000 : Infinity),
      request,
      idempotencyKey: random.chance(0.7) ? `key-${send}` : undefined,
      respondAsync: isSlow || random.chance(0.5),
      sender: random.pick(['owner', 'member'] as const),
    };
    add(first);
    if (first.idempotencyKey === undefined) continue;
    const repetitions = world.stream(`repetitions of send ${send}`);
    if (faults.occurs('request repeated at the same time')) {
      add({ ...first, at: first.at + repetitions.between(0, 200) });
    }
    while (calls.length < 6 && faults.occurs('request repeated later')) {
      const isSame = repetitions.chance(0.9);
      const again = {
        ...first,
        // Also while the first request ends or is cancelled, and while it may still hold a lease.
        at:
          first.at +
          repetitions.pick([
            repetitions.latency(1000, 600_000),
            repetitions.between(15_000, 32_000),
            repetitions.between(31_000, 90_000),
          ]),
        respondAsync: repetitions.chance(0.5),
        request: isSame ? request : { ...request, body: 'Another body' },
      };
      add(again);
      if (faults.occurs('request repeated at the same time')) {
        add({ ...again, at: again.at + repetitions.between(0, 200) });
      }
    }
  }
  const meanwhile = (at: number, sender: Call['sender'] = 'owner') =>
    add({
      at: Math.max(0, at),
      request: { title: 'Meanwhile' },
      idempotencyKey: undefined,
      respondAsync: false,
      sender,
    });
  for (const { at, kind } of commands) {
    const random = world.stream(`sends after: ${kind}`);
    // Pushes correct subscriptions while the command removes them.
    if (kind === 'drop previous pair') meanwhile(at + random.between(-100, 300));
    if (kind === 'recount') meanwhile(at + random.between(-300, 1000));
    if (kind === 'pause') {
      meanwhile(at + random.between(-5000, 20_000));
      // One that continues an earlier one, as the command begins.
      const keyed = calls.find(({ idempotencyKey }) => idempotencyKey !== undefined);
      if (keyed) add({ ...keyed, at: Math.max(0, at + random.between(-500, 500)) });
    }
    if (kind !== 'revoke member') continue;
    meanwhile(at + random.between(-20_000, 0), 'member');
    meanwhile(at + random.pick([random.between(0, minuteMs), 10 * minuteMs]), 'member');
  }
  if (faults.occurs('request after ten minutes')) meanwhile(10 * minuteMs);
  return calls;
}
