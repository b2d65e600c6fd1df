import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { sendTimeline, sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import type { Recipient, Slice } from '../../contract/infrastructure/slice.ts';
import { type ErrorCode, ServiceError } from '../../contract/wire/errors.ts';
import type { PushMessage } from '../../contract/wire/message.ts';
import type { NotificationResult } from '../../contract/wire/notification.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import { type DeliverDependencies, deliver } from '../../lambdas/deliver/deliver.ts';
import { getNotification } from '../../lambdas/get-notification/get-notification.ts';
import type { Message } from '../../lambdas/push/pushing/push.ts';
import { inFlight } from '../../lambdas/push/pushing/push-service.ts';
import { startPushingWith } from '../../lambdas/push/pushing/pusher.ts';
import { type SendOutcome, send } from '../../lambdas/send/send.ts';
import { keyHashOf, type SendDependencies, usersOf, uuidV7 } from '../../lambdas/send/sending.ts';
import { audienceStore } from '../../lambdas/store/audience.ts';
import { newSubscriberParts, sumOf, usedParts, utcMonth } from '../../lambdas/store/counters.ts';
import { deliveriesOf } from '../../lambdas/store/deliveries.ts';
import {
  endpointHash,
  type ProjectItem,
  storedChoice,
  subscriptionKey,
} from '../../lambdas/store/items.ts';
import { eventCounterStore, notificationStore } from '../../lambdas/store/notifications.ts';
import { sendStore } from '../../lambdas/store/sends.ts';
import { sliceStore } from '../../lambdas/store/slices.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { keyed } from '../fixtures/known-project.ts';
import { silentObserver } from '../fixtures/silent-observer.ts';
import { browserActor, type Subscribed } from './browser-actor.ts';
import { type CounterFaults, counterFaultsOf } from './counters.ts';
import { tables } from './database/memory-database.ts';
import { type Environment, Environments } from './environments.ts';
import type { Fault } from './faults.ts';
import { FunctionRun } from './function-run.ts';
import { described, SimulatedLambda } from './lambda.ts';
import { changeProject, deleteProject } from './operator-actor.ts';
import { Owner } from './owner-actor.ts';
import { origins, publicKeyOf, simulatedTransport } from './push-services.ts';
import { type Browser, browserKeys, type Call, randomScenario, type Scenario } from './scenario.ts';
import { World } from './world.ts';

export const projectId = 'shop';
export const firstRef = 'first' as ProjectRef;

/** How a request to send ended, as its caller sees it. */
export type CallOutcome =
  | SendOutcome
  | {
      readonly kind: 'error';
      readonly code: ErrorCode | 'internal_error';
      readonly retryAfterSeconds?: number | undefined;
    }
  /** The function died or took too long: the gateway's own response. */
  | { readonly kind: 'gateway_error' };

export interface Response {
  readonly call: Call;
  readonly outcome: CallOutcome;
  /** Ms after the request. */
  readonly afterMs: number;
  /** Ms after the request at which the function started. */
  readonly startedAfterMs: number;
  /** Epoch ms. */
  readonly at: number;
  /** Whether its notification is stored then, if it has one. */
  readonly isStored: boolean;
}

/** A notification as `GET` returned it at some time. */
export interface Reading {
  /** Epoch ms. */
  readonly at: number;
  readonly result: NotificationResult;
  /** The request of the function that had just ended, if that was the occasion. */
  readonly afterRun: string | undefined;
}

/** A stop of a notification that had a response. */
export interface Stop {
  /** Epoch ms of the response. */
  readonly at: number;
  readonly notification: NotificationResult;
}

/** What a run was and what it left. */
export interface Report {
  readonly seed: number;
  readonly world: World;
  readonly scenario: Scenario;
  readonly responses: readonly Response[];
  readonly stops: readonly Stop[];
  /** Notifications whose cancellation failed. */
  readonly notCancelled: ReadonlySet<string>;
  /** The requests of browsers to subscribe, in the order of their responses. */
  readonly subscribed: readonly Subscribed[];
  /** What an owner has seen or changed of a later project of the same id. */
  readonly trespasses: readonly string[];
  /** The request that made each notification, by its id. */
  readonly requestOf: ReadonlyMap<string, string>;
  /** Each notification when everything has ended. Of a project that was deleted, as it was read last. */
  readonly notifications: readonly NotificationResult[];
  /** What `GET` of each notification returned in the course of time, by its id. */
  readonly history: ReadonlyMap<string, readonly Reading[]>;
  /** What is wrong with the counters at the end, or when the project is about to be removed. */
  readonly counterFaults: CounterFaults;
  /** Epoch ms at which the operator's command to delete the project returned. */
  readonly deletedAt: number | undefined;
}

/** Breaks the code, to show that an invariant finds it. */
export interface Breakage {
  /** Ms that a function which delivers a slice believes to have. */
  readonly sliceMs?: number;
  readonly deps?: <Dependencies extends DeliverDependencies & Partial<SendDependencies>>(
    deps: Dependencies,
  ) => Dependencies;
  readonly world?: (world: World) => void;
  /** Changes what the caller is told. */
  readonly response?: (response: Response) => Response;
  readonly notification?: (notification: NotificationResult) => NotificationResult;
}

export interface SimulationOptions {
  readonly isTraced?: boolean;
  /** Faults that occur at their highest rates. */
  readonly favoured?: readonly Fault[];
  readonly breakage?: Breakage;
}

/** Seconds after which an API Gateway gives up a request. */
const gatewayTimeoutMs = 30_000;
/** Subscribers of a later project of the same id. */
const successors: readonly Browser[] = ['ann', 'bob', undefined, undefined].map(
  (userId, index) => ({
    ...{ origin: origins[0], path: `/successor/${index}`, userId, isGone: false },
    ...{ channels: [], changes: [], seenAgoMs: 0, subscribesAt: 0, unsubscribesAt: undefined },
    ...{ vapidPairNumber: 1, storedPairNumber: 1 },
  }),
);

/** A notification of a later project of the same id. */
const successorsNotification = '019c0000-0000-7000-8000-000000000000';

/** Neither a cancelled one, nor an item of an idempotency key, nor the successor's. */
const isNotification = ({ content, notificationId }: Record<string, unknown>) =>
  content !== undefined && notificationId !== successorsNotification;

/** One run: a pure function of its seed. */
export async function simulate(
  seed: number,
  { isTraced = false, favoured = [], breakage = {} }: SimulationOptions = {},
): Promise<Report> {
  const world = new World(seed, isTraced);
  world.faults.favour(...favoured);
  breakage.world?.(world);
  const { scheduler, faults, database } = world;
  const scenario = randomScenario(world);
  const known = new Map<string, Browser>(
    scenario.browsers.map((browser) => [browser.path, browser]),
  );
  const environments = new Environments(world, (run) => {
    if (/^(send|deliver) /.test(run.name)) watchNotifications(run.requestId);
  });
  const owner = new Owner(world, environments, projectId, 'hash of the owner');
  createProject(
    scenario.browsers.filter(({ subscribesAt }) => subscribesAt === 0),
    firstRef,
    'hash of the owner',
  );
  const responses: Response[] = [];
  const stops: Stop[] = [];
  const notCancelled = new Set<string>();
  const requestOf = new Map<string, string>();
  const history = new Map<string, Reading[]>();
  const subscribed: Subscribed[] = [];
  const trespasses: string[] = [];
  let counterFaults: CounterFaults | undefined;
  let deletedAt: number | undefined;
  const lambda = new SimulatedLambda(
    world,
    environments,
    async (run, environment, slice: Slice) => {
      const { sliceMs = sliceTimeline.timeoutMs - sliceTimeline.lastWritesMs } = breakage;
      const endsAt = run.clock().getTime() + sliceMs;
      return deliver(sliceDependencies(run, environment), slice, run.name, endsAt);
    },
  );

  for (const call of scenario.calls) scheduler.after(call.at, () => void request(call));
  for (const at of scenario.stops) scheduler.after(at, () => void stopSome());
  for (const browser of scenario.browsers) {
    void browserActor(world, environments, projectId, scenario.subscriberCap, browser, (one) =>
      subscribed.push(one),
    );
  }
  for (const { at, userId } of scenario.userRemovals) {
    scheduler.after(at, () => void owner.removeUser(userId));
  }
  for (const removal of scenario.deviceRemovals) {
    scheduler.after(removal.at, () => void owner.removeDevice(removal));
  }
  void operator();
  if (scenario.projectDeletedAt !== undefined) {
    // Functions know the project when it is deleted.
    scheduler.after(Math.max(0, scenario.projectDeletedAt - 5000), () => void trespass());
    scheduler.after(scenario.projectDeletedAt, () => void remove());
  }
  for (const seconds of [5, 10, 20, 30, 60, 120, 300, 900, 1800, 3600, 5400, 7200]) {
    scheduler.after(seconds * 1000, () => watchNotifications());
  }
  await scheduler.run();

  faults.stop();
  world.outages = [];
  const notifications = await readNotifications();
  return {
    ...{
      seed,
      world,
      scenario,
      responses,
      stops,
      notCancelled,
      notifications,
      requestOf,
    },
    ...{ history, deletedAt, subscribed, trespasses },
    counterFaults: counterFaults ?? counterFaultsOf(world),
  };

  /** The items as the operator's command creates them, and those of its first subscribers. */
  function createProject(
    browsers: readonly Browser[],
    ref: ProjectRef,
    secretKeyHash: string,
  ): void {
    const project: ProjectItem = {
      ...keyed(ref),
      ...{ projectId, secretKeyHash, members: {} },
      settings: {
        name: 'Shop',
        ...{ monthlySendCap: scenario.monthlyCap, subscriberCap: scenario.subscriberCap },
      },
      ...{ vapidPair: 1, vapidPublicKey: publicKeyOf(1), previousVapidPublicKey: publicKeyOf(0) },
      createdAt: new Date(0).toISOString(),
    };
    database.put(tables.projects, { ...project });
    database.put(tables.vapidKeys, { projectId, privateKey: '', previousPrivateKey: '' });
    database.put(tables.identityKeys, { projectId, identityKey: '' });
    let subscribers = 0;
    for (const { origin, path, seenAgoMs, storedPairNumber, ...choice } of browsers) {
      const hash = endpointHash(project, origin + path);
      subscribers += 1;
      database.put(tables.subscriptions, {
        ...subscriptionKey(ref, hash),
        ...{
          origin,
          path,
          ...browserKeys,
          createdAt: 0,
          updatedAt: world.startsAt - seenAgoMs,
          vapidPairNumber: storedPairNumber,
        },
        ...storedChoice(ref, choice),
        ...(choice.userId && { userSince: 0 }),
      });
    }
    const parts = newSubscriberParts(ref, subscribers);
    for (const part of parts) database.put(tables.usage, { ...part });
  }

  /** Another project of the same id, with other subscribers. The former owner still has a key. */
  function createSuccessor(): void {
    world.note('operator', () => 'creates a project of the same id');
    const subscribers = successors.slice(0, scenario.subscriberCap ?? successors.length);
    for (const browser of subscribers) known.set(browser.path, browser);
    createProject(subscribers, world.successorRef, 'hash of the next owner');
    database.put(tables.notifications, {
      ...{
        projectRef: world.successorRef,
        notificationId: successorsNotification,
        content: { title: 'Hello' },
      },
      ...{ subscribers: 4, conditions: {}, slices: 1, countersPerSlice: 1, respondedAsync: false },
      ...{ sentAt: scheduler.clock().toISOString(), expiresAt: Number.MAX_SAFE_INTEGER },
    });
    for (let count = 0; count < 3; count += 1) {
      scheduler.after(world.stream('trespass').between(0, 30_000), () => void trespass());
    }
  }

  /** Functions may still remember the deleted project, and take its key. */
  async function trespass(): Promise<void> {
    const isOwn = deletedAt === undefined;
    const removed = await owner.removeUser(isOwn ? 'nobody' : 'ann');
    if (removed) trespasses.push(`removed ${removed} subscriptions of a user`);
    const ids = await owner.list();
    if (ids?.includes(successorsNotification)) trespasses.push('listed a notification');
    const stopped = await owner.stop(successorsNotification);
    if (stopped !== undefined) trespasses.push('stopped a notification');
  }

  /** API Gateway: passes a request to send and responds within 30 s. */
  async function request(call: Call): Promise<void> {
    const startedAt = new Date(scheduler.now);
    const random = world.stream('gateway');
    world.note('gateway', () => `${call.requestId} ${JSON.stringify(call)}`);
    const isLate = faults.occurs('late start');
    const startsIn = isLate
      ? random.between(15_000, 35_000)
      : faults.occurs('cold start')
        ? random.latency(300, 10_000)
        : random.latency(3, 500);
    const respond = (outcome: CallOutcome) => {
      const afterMs = scheduler.now - startedAt.getTime();
      if (responses.some((response) => response.call === call)) return;
      const { now: at } = scheduler;
      const isStored = isStoredNow(outcome);
      const response = { call, outcome, afterMs, startedAfterMs: startsIn, at, isStored };
      responses.push(breakage.response?.(response) ?? response);
      world.note('gateway', () => `${call.requestId}: ${JSON.stringify(outcome)}`);
    };
    scheduler.after(gatewayTimeoutMs, () => {
      if (responses.every((response) => response.call !== call)) faults.count('gateway gave up');
      respond({ kind: 'gateway_error' });
    });
    await scheduler.sleep(startsIn);
    const outcome = await environments.run(
      'send',
      call.requestId,
      sendTimeline.timeoutMs,
      async (run, environment) => {
        const msLeft = Math.max(
          0,
          startedAt.getTime() + sendTimeline.endMs - run.clock().getTime(),
        );
        const signal = run.abortAfter(msLeft);
        const found = await environment.signingProjects.find(projectId, signal);
        if (found?.secretKeyHash !== 'hash of the owner') {
          throw new ServiceError('unauthorized', 'No such project.');
        }
        const project = faults.occurs('pair unknown to the function')
          ? { ...found, vapid: { current: found.vapid.previous ?? found.vapid.current } }
          : found;
        const { request, idempotencyKey, respondAsync, requestId } = call;
        const read = usedParts(environment.dynamo, tables.usage);
        const deps = sendDependencies(run, environment);
        const common = {
          ...{ request, idempotencyKey, respondAsync, requestId, startedAt },
          sentAt: run.clock(),
          baseUrl: 'https://api.example',
        };
        // As the handler does.
        const users = usersOf(request);
        if (users !== undefined) return send(deps, project, { ...common, audience: users });
        const [used, earlier] = await Promise.all([
          read(project.ref, utcMonth(run.clock()), signal),
          idempotencyKey &&
            deps.sends.earlier(project.ref, keyHashOf(idempotencyKey), run.clock(), signal),
        ]);
        const audience = { subscribers: sumOf(used.subscribers) };
        const sent = used.sends;
        return send(deps, project, { ...common, audience, sent, earlier: earlier || undefined });
      },
      (run) => run.note(() => `started: ${call.requestId}`),
    );
    world.note('send', () => `${call.requestId} ended: ${described(outcome)}`);
    if (outcome.kind === 'returned') respond(outcome.value);
    else if (outcome.kind === 'died') respond({ kind: 'gateway_error' });
    else if (outcome.error instanceof ServiceError) {
      const { code, retryAfterSeconds } = outcome.error;
      respond({ kind: 'error', code, retryAfterSeconds });
    } else respond({ kind: 'error', code: 'internal_error' });
  }

  /** Whether the notification of a response is stored. One of a project that is being removed may not be. */
  function isStoredNow(outcome: CallOutcome): boolean {
    if (outcome.kind !== 'sent' && outcome.kind !== 'accepted') return true;
    const id = outcome.kind === 'sent' ? outcome.result.id : outcome.id;
    const stored = database.items(tables.notifications).filter(isNotification);
    return stored.some(({ notificationId }) => notificationId === id) || isRemoved();
  }

  function isRemoved(): boolean {
    return world.removedAt !== undefined;
  }

  /** The owner stops a notification. */
  async function stopSome(): Promise<void> {
    const stored = database.items(tables.notifications).filter(isNotification);
    if (stored.length === 0) return;
    const notification = await owner.stop(
      world.stream('stopped').pick(stored).notificationId as string,
    );
    if (notification === undefined) return;
    stops.push({ at: scheduler.now, notification });
    if (notification.status !== 'sent') faults.count('notification stopped');
  }

  function notificationDependencies(dynamo: DynamoDBDocumentClient) {
    return {
      notifications: notificationStore(dynamo, tables.notifications),
      deliveries: deliveriesOf(dynamo, tables.deliveries),
      clock: scheduler.clock,
    };
  }

  function sliceDependencies(
    run: FunctionRun,
    { dynamo, signingProjects: projects }: Environment,
  ): DeliverDependencies {
    let pushers = 0;
    const deps: DeliverDependencies = {
      audiences: audienceStore(dynamo, tables.subscriptions, run.sleep),
      subscriptions: subscriptionStore(dynamo, tables, run.clock, run.draw),
      projects,
      slices: sliceStore(dynamo, tables.deliveries, run.sleep),
      eventCounters: eventCounterStore(dynamo, tables.deliveries),
      startPushing: (options) => {
        pushers += 1;
        const number = pushers;
        const notifications = new Map<string, PushMessage['notification']>();
        /** Remembers what is encrypted for a browser. */
        const recorded = (message: Message) => (recipient: Recipient) => {
          const bytes = typeof message === 'function' ? message(recipient) : message;
          notifications.set(recipient.path, JSON.parse(bytes.toString()).notification);
          return bytes;
        };
        run.note(() => `pusher ${number}`);
        const few = { overall: 4, perPushService: 3, initial: 2, minimum: 1 };
        const about = { pusher: number, notifications };
        return startPushingWith({
          transport: simulatedTransport(world, run, known, about),
          sign: ({ publicKey }) => publicKey,
          clock: run.clock,
          sleep: run.sleep,
          random: () => run.random.next(),
          extraOrigins: [],
          inFlight: scenario.fewConnections ? few : inFlight,
        })({ ...options, messages: options.messages.map(recorded) });
      },
      clock: run.clock,
      sleep: run.sleep,
      abortAfter: run.abortAfter,
      random: () => run.random.next(),
      observe: {
        ...silentObserver,
        recordFailed({ notificationId }, error) {
          run.note(() => `not recorded: ${notificationId}: ${error}`);
        },
        cancelFailed({ notificationId }, error) {
          run.note(() => `not cancelled: ${notificationId}: ${error}`);
          notCancelled.add(notificationId);
        },
      },
    };
    return breakage.deps?.(deps) ?? deps;
  }

  function sendDependencies(run: FunctionRun, environment: Environment): SendDependencies {
    const { dynamo } = environment;
    const deps: SendDependencies = {
      ...sliceDependencies(run, environment),
      sends: sendStore(dynamo, tables),
      notifications: notificationStore(dynamo, tables.notifications),
      starter: lambda.starter(run),
      newId: (time) => {
        const id = uuidV7(time, (length) =>
          Uint8Array.from({ length }, () => run.random.integer(0, 255)),
        );
        requestOf.set(id, run.requestId);
        return id;
      },
      monthlyCap: 10_000,
      pushesPerSecond: scenario.pushesPerSecond,
    };
    return breakage.deps?.(deps) ?? deps;
  }

  /** Runs the operator's commands, one after another. */
  async function operator(): Promise<void> {
    for (const command of scenario.commands) {
      const wait = world.startsAt + command.at - scheduler.now;
      await scheduler.sleep(wait);
      await changeProject(world, projectId, command);
    }
  }

  async function remove(): Promise<void> {
    watchNotifications();
    counterFaults = counterFaultsOf(world);
    if (!(await deleteProject(world, projectId))) return;
    deletedAt = scheduler.now;
    if (faults.occurs('project created again')) {
      // The operator's next command takes a second to start.
      scheduler.after(world.stream('successor').between(1000, 20_000), createSuccessor);
    }
  }

  /** Reads every notification at once, without faults. */
  function watchNotifications(afterRun?: string): void {
    const { now: at } = scheduler;
    const deps = notificationDependencies(database.client());
    for (const item of database.items(tables.notifications).filter(isNotification)) {
      const id = item.notificationId;
      void getNotification(deps, { ref: firstRef }, id as string).then((result) => {
        history.set(result.id, [...(history.get(result.id) ?? []), { at, result, afterRun }]);
      });
    }
  }

  async function readNotifications(): Promise<NotificationResult[]> {
    const found: NotificationResult[] = [];
    for (const item of database.items(tables.notifications).filter(isNotification)) {
      scheduler.after(2 * 60 * 60 * 1000, () => {
        const run = new FunctionRun(world, 'getNotification', 'get');
        const deps = notificationDependencies(run.dynamo());
        void getNotification(deps, { ref: firstRef }, item.notificationId as string).then(
          (result) => {
            run.note(() => JSON.stringify(result));
            found.push(breakage.notification?.(result) ?? result);
          },
        );
      });
    }
    await scheduler.run();
    const isFound = (id: string) => found.some((one) => one.id === id);
    const deleted = [...history].filter(([id]) => isRemoved() && !isFound(id));
    return [...found, ...deleted.map(([, readings]) => readings.at(-1)!.result)];
  }
}
