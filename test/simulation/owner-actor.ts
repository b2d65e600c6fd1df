import { ServiceError } from '../../contract/wire/errors.ts';
import type { NotificationResult } from '../../contract/wire/notification.ts';
import type { Project } from '../../contract/wire/project.ts';
import { findNotification, notificationResult } from '../../lambdas/results/notification-result.ts';
import { stopNotification } from '../../lambdas/stop-notification/stop-notification.ts';
import { removeFound, userSubscriptions } from '../../lambdas/store/audience.ts';
import { deliveriesOf } from '../../lambdas/store/deliveries.ts';
import { endpointHash } from '../../lambdas/store/items.ts';
import { notificationStore } from '../../lambdas/store/notifications.ts';
import { sliceStore } from '../../lambdas/store/slices.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { tables } from './database/memory-database.ts';
import type { Environment, Environments } from './environments.ts';
import type { FunctionRun } from './function-run.ts';
import type { DeviceRemoval } from './scenario.ts';
import type { World } from './world.ts';

/** The time-out of the functions without deliveries, as in lib/service-function.ts. */
const timeoutMs = 10_000;

/** The owner of a project, who has its secret key. The owner repeats a request that fails. */
export class Owner {
  readonly #world: World;
  readonly #environments: Environments;
  readonly #projectId: string;
  readonly #secretKeyHash: string;

  constructor(world: World, environments: Environments, projectId: string, secretKeyHash: string) {
    this.#world = world;
    this.#environments = environments;
    this.#projectId = projectId;
    this.#secretKeyHash = secretKeyHash;
  }

  /** @returns the response; undefined if there was none. */
  stop(id: string): Promise<NotificationResult | undefined> {
    return this.#request('stop', async (run, { dynamo }, project, signal) => {
      const deps = {
        notifications: notificationStore(dynamo, tables.notifications),
        deliveries: deliveriesOf(dynamo, tables.deliveries, run.sleep),
        slices: sliceStore(dynamo, tables.deliveries, run.sleep),
        clock: run.clock,
      };
      const found = await findNotification(deps, project, id, signal);
      const { notification, delivery } = await stopNotification(deps, project, found, signal);
      return notificationResult(notification, delivery, run.clock());
    });
  }

  /** @returns how many subscriptions were removed; undefined without a response. */
  removeUser(userId: string): Promise<number | undefined> {
    return this.#request('removeUser', async (run, { dynamo }, { ref }, signal) => {
      const found = await userSubscriptions(dynamo, tables.subscriptions).endpointHashes(
        ref,
        userId,
        signal,
      );
      const subscriptions = subscriptionStore(dynamo, tables, run.clock, run.draw);
      return removeFound(subscriptions, ref, userId, found, signal);
    });
  }

  /** @returns whether it was removed; undefined without a response. */
  removeDevice({ userId, origin, path }: DeviceRemoval): Promise<number | undefined> {
    return this.#request('removeDevice', async (run, { dynamo }, project, signal) => {
      const subscriptions = subscriptionStore(dynamo, tables, run.clock, run.draw);
      const found = [[endpointHash(project, origin + path)]];
      return removeFound(subscriptions, project.ref, userId, found, signal);
    });
  }

  /** @returns the ids of the newest notifications; undefined without a response. */
  list(): Promise<readonly string[] | undefined> {
    return this.#request('list', async (_, { dynamo }, { ref }, signal) => {
      const notifications = notificationStore(dynamo, tables.notifications);
      const newest = await notifications.newest(ref, 100, undefined, signal);
      return newest.map(({ id }) => id);
    });
  }

  async #request<Result>(
    kind: string,
    body: (
      run: FunctionRun,
      environment: Environment,
      project: Project,
      signal: AbortSignal,
    ) => Promise<Result>,
  ): Promise<Result | undefined> {
    const { scheduler } = this.#world;
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const outcome = await this.#environments.run(
        kind,
        kind,
        timeoutMs,
        async (run, environment) => {
          const signal = run.abortAfter(timeoutMs - 1000);
          const project = await environment.signingProjects.find(this.#projectId, signal);
          if (project?.secretKeyHash !== this.#secretKeyHash) {
            throw new ServiceError('unauthorized', 'No such project.');
          }
          return body(run, environment, project, signal);
        },
      );
      if (outcome.kind === 'returned') return outcome.value;
      await scheduler.sleep(this.#world.stream('owner').latency(1000, 5000));
    }
    return undefined;
  }
}
