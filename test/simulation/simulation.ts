import type { Slice } from '../../contract/infrastructure/slice.ts';
import type { NotificationResult } from '../../contract/wire/notification.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import { getNotification } from '../../lambdas/get-notification/get-notification.ts';
import type { Host } from '../../lambdas/host.ts';
import { newParts } from '../../lambdas/store/counters.ts';
import { deliveriesOf } from '../../lambdas/store/deliveries.ts';
import {
  endpointHash,
  type ProjectItem,
  storedChoice,
  subscriptionKey,
} from '../../lambdas/store/items.ts';
import { notificationStore } from '../../lambdas/store/notifications.ts';
import { keyed } from '../fixtures/known-project.ts';
import { browserActor, type Subscribed } from './browser-actor.ts';
import { type CounterFaults, counterFaultsOf } from './counters.ts';
import { tables } from './database/memory-database.ts';
import { Environments } from './environments.ts';
import type { Fault } from './faults.ts';
import { type HttpResponse, hashOf, keys, projectId, request } from './gateway.ts';
import { SimulatedLambda } from './lambda.ts';
import { changeProject, deleteProject, memberName } from './operator-actor.ts';
import { Owner } from './owner-actor.ts';
import { origins, PushServices, storedKeys, vapidPairs } from './push-services.ts';
import { type Browser, type Call, randomScenario, type Scenario } from './scenario.ts';
import { variables } from './variables.ts';
import { everyone, World } from './world.ts';

export const firstRef = 'first' as ProjectRef;

/** What a caller who sends gets. */
export interface Response extends HttpResponse {
  readonly call: Call;
  /** Ms after the request. */
  readonly afterMs: number;
  /** Ms after the request at which the function started. */
  readonly startedAfterMs: number;
  /** Epoch ms. */
  readonly at: number;
  /** The notification that it names, and what is stored of that then. */
  readonly id: string | undefined;
  readonly stored: NotificationResult | undefined;
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
  /** The requests of browsers to subscribe, in the order of their responses. */
  readonly subscribed: readonly Subscribed[];
  /** What an owner has seen or changed of a later project of the same id. */
  readonly trespasses: readonly string[];
  /** Each notification when everything has ended. Of a project that was deleted, as it was read last. */
  readonly notifications: readonly NotificationResult[];
  /** What `GET` of each notification returned in the course of time, by its id. */
  readonly history: ReadonlyMap<string, readonly Reading[]>;
  /** What is wrong with the counters at the end, or when the project is about to be removed. */
  readonly counterFaults: CounterFaults;
  /** Epoch ms at which the operator's command to delete the project returned. */
  readonly deletedAt: number | undefined;
  /** Epoch ms: from the end of the operator's command to pause to the begin of the one to resume. */
  readonly pauses: readonly { readonly from: number; to: number }[];
}

/** Breaks the code, to show that an invariant finds it. */
export interface Breakage {
  readonly world?: (world: World) => void;
  /** Changes what functions take from where they run. */
  readonly host?: (host: Host) => Host;
  /** Changes what Lambda hands to a function. */
  readonly slice?: (slice: Slice) => Slice;
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

/** Subscribers of a later project of the same id. */
const successors: readonly Browser[] = ['ann', 'bob', undefined, undefined].map(
  (userId, index) => ({
    ...{ origin: origins[0], path: `/successor/${index}`, choice: { userId }, isGone: false },
    ...{ changes: [], seenAgoMs: 0, subscribesAt: 0, unsubscribesAt: undefined },
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
  const pushServices = new PushServices(world, known);
  const lambda = new SimulatedLambda(world, breakage.slice);
  const environments = new Environments(
    world,
    (host, running) => {
      const own = {
        ...host,
        variables: { ...variables, PUSHES_PER_SECOND: String(scenario.pushesPerSecond) },
        connect: (url: URL) => pushServices.connect(running, url),
        post: lambda.post(running),
      };
      return breakage.host?.(own) ?? own;
    },
    (run) => {
      if (run.kind === 'send' || run.kind === 'deliver') watchNotifications(run.requestId);
    },
  );
  lambda.environments = environments;
  const owner = new Owner(world, environments, keys.owner);
  const first = scenario.browsers.filter(({ subscribesAt }) => subscribesAt === 0);
  createProject(first, firstRef, keys.owner);
  const responses: Response[] = [];
  const stops: Stop[] = [];
  const history = new Map<string, Reading[]>();
  const subscribed: Subscribed[] = [];
  const trespasses: string[] = [];
  const pauses: { readonly from: number; to: number }[] = [];
  let counterFaults: CounterFaults | undefined;
  let deletedAt: number | undefined;

  for (const call of scenario.calls) scheduler.after(call.at, () => void send(call));
  for (const at of scenario.stops) scheduler.after(at, () => void stopSome());
  for (const browser of scenario.browsers) {
    void browserActor(world, environments, browser, (one) => subscribed.push(one));
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
    ...{ seed, world, scenario, responses, stops, subscribed, trespasses, pauses, notifications },
    ...{ history, deletedAt, counterFaults: counterFaults ?? counterFaultsOf(world) },
  };

  /** The items as the operator's command creates them, and those of its first subscribers. */
  function createProject(browsers: readonly Browser[], ref: ProjectRef, secretKey: string): void {
    const [previous, current] = vapidPairs;
    const member = { role: 'sender', keyHash: hashOf(keys.member), createdAt: '' } as const;
    const project: ProjectItem = {
      ...keyed(ref),
      ...{ projectId, secretKeyHash: hashOf(secretKey) },
      settings: {
        name: 'Shop',
        userIds: 'open',
        ...{ monthlySendCap: scenario.monthlyCap, subscriberCap: scenario.subscriberCap },
      },
      members: ref === firstRef ? { [memberName]: member } : {},
      vapidPair: 1,
      vapidPublicKey: current!.publicKey,
      previousVapidPublicKey: previous!.publicKey,
      createdAt: new Date(0).toISOString(),
    };
    database.put(tables.projects, { ...project });
    database.put(tables.vapidKeys, {
      projectId,
      privateKey: current!.privateKey,
      previousPrivateKey: previous!.privateKey,
    });
    database.put(tables.identityKeys, { projectId, identityKey: '' });
    let subscribers = 0;
    for (const { origin, path, seenAgoMs, storedPairNumber, choice } of browsers) {
      const hash = endpointHash(project, origin + path);
      subscribers += 1;
      database.put(tables.subscriptions, {
        ...subscriptionKey(ref, hash),
        ...{ origin, path, ...storedKeys, createdAt: 0 },
        ...{ updatedAt: world.startsAt - seenAgoMs, vapidPairNumber: storedPairNumber },
        ...storedChoice(ref, choice),
        ...(choice.userId && { userSince: 0 }),
      });
    }
    const parts = newParts({ project: ref }, subscribers);
    for (const part of parts) database.put(tables.usage, { ...part });
  }

  /** Another project of the same id, with other subscribers. The former owner still has a key. */
  function createSuccessor(): void {
    world.note('operator', () => 'creates a project of the same id');
    const subscribers = successors.slice(0, scenario.subscriberCap ?? successors.length);
    for (const browser of subscribers) known.set(browser.path, browser);
    createProject(subscribers, world.successorRef, keys.nextOwner);
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

  /** A caller sends. @param repetitions that the caller has left, after responses that ask for it. */
  async function send(call: Call, repetitions = 2): Promise<void> {
    const { requestId, idempotencyKey, respondAsync, sender } = call;
    const startedAt = scheduler.now;
    const random = world.stream('gateway');
    world.note('gateway', () => JSON.stringify(call));
    const startedAfterMs = faults.occurs('late start')
      ? random.between(15_000, 35_000)
      : faults.occurs('cold start')
        ? random.latency(300, 10_000)
        : random.latency(3, 500);
    const made = {
      function: 'send',
      requestId,
      key: keys[sender],
      headers: {
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
        ...(respondAsync && { prefer: 'respond-async' }),
      },
      body: call.request,
    } as const;
    const response = await request(world, environments, made, startedAfterMs, (run) =>
      run.note(() => `started: ${requestId}`),
    );
    const at = scheduler.now;
    const { status, headers, body } = response;
    world.note('gateway', () => `${requestId}: ${status} ${JSON.stringify(body)}`);
    const id = (body.id ?? headers.Location?.split('/').at(-1)) as string | undefined;
    const stored = id === undefined ? undefined : await storedNow(id);
    const told = { ...response, call, startedAfterMs, afterMs: at - startedAt, at, id, stored };
    responses.push(breakage.response?.(told) ?? told);
    // Without a key, only what was not sent.
    const isAsked = body.error?.code === 'unavailable' || (status >= 500 && idempotencyKey);
    if (!isAsked || repetitions === 0) return;
    const seconds = Number(headers['Retry-After'] ?? random.pick([1, 5, 40]));
    const again = { ...call, requestId: `${requestId}+`, at: at - world.startsAt + seconds * 1000 };
    scenario.calls.push(again);
    await scheduler.sleep(seconds * 1000);
    await send(again, repetitions - 1);
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

  /** Runs the operator's commands, one after another. */
  async function operator(): Promise<void> {
    for (const command of scenario.commands) {
      const wait = world.startsAt + command.at - scheduler.now;
      await scheduler.sleep(wait);
      if (command.kind === 'resume') for (const pause of pauses) pause.to = scheduler.now;
      const from = scheduler.now;
      const isDone = await changeProject(world, command);
      if (command.kind !== 'pause') continue;
      const to = Number.POSITIVE_INFINITY;
      if (isDone) pauses.push({ from: scheduler.now, to });
      // The project may be paused without having stopped what is being sent: these pushes wait.
      else world.disturb(everyone, { from, to });
    }
  }

  async function remove(): Promise<void> {
    watchNotifications();
    counterFaults = counterFaultsOf(world);
    if (!(await deleteProject(world))) return;
    deletedAt = scheduler.now;
    if (faults.occurs('project created again')) {
      // The operator's next command takes a second to start.
      scheduler.after(world.stream('successor').between(1000, 20_000), createSuccessor);
    }
  }

  /** What `GET` returns of a notification at this moment. */
  function storedNow(id: string): Promise<NotificationResult | undefined> {
    const dynamo = database.client();
    const deps = {
      notifications: notificationStore(dynamo, tables.notifications, scheduler.clock),
      deliveries: deliveriesOf(dynamo, tables.deliveries, async () => {}),
      clock: scheduler.clock,
    };
    return getNotification(deps, { ref: firstRef }, id).catch(() => undefined);
  }

  function watchNotifications(afterRun?: string): void {
    const { now: at } = scheduler;
    for (const item of database.items(tables.notifications).filter(isNotification)) {
      void storedNow(item.notificationId as string).then((result) => {
        if (result === undefined) return;
        history.set(result.id, [...(history.get(result.id) ?? []), { at, result, afterRun }]);
      });
    }
  }

  /** All of them, when everything has ended. */
  async function readNotifications(): Promise<NotificationResult[]> {
    scheduler.work(2 * 60 * 60 * 1000);
    const found: NotificationResult[] = [];
    for (const item of database.items(tables.notifications).filter(isNotification)) {
      const result = await storedNow(item.notificationId as string);
      world.note('end', () => JSON.stringify(result));
      if (result !== undefined) found.push(breakage.notification?.(result) ?? result);
    }
    const isFound = (id: string) => found.some((one) => one.id === id);
    // Not with its project: its send was undone before.
    const isUndone = (id: string) =>
      world.slices.get(`${id}/0`)?.at(-1)?.item.ended === 'cancelled';
    const deleted = [...history].filter(([id]) => isRemoved() && !isFound(id) && !isUndone(id));
    return [...found, ...deleted.map(([, readings]) => readings.at(-1)!.result)];
  }
}
