import { ServiceError } from '../../contract/wire/errors.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { subscribe } from '../../lambdas/subscribe/subscribe.ts';
import { tables } from './database/memory-database.ts';
import type { Environments } from './environments.ts';
import { described } from './lambda.ts';
import { publicKeyOf } from './push-services.ts';
import { type Browser, browserKeys, type Choice } from './scenario.ts';
import type { World } from './world.ts';

/** The time-out of the functions for browsers, as in lib/service-function.ts. */
const timeoutMs = 10_000;

/** A request to subscribe. */
export interface Subscribed extends Choice {
  readonly path: string;
  /** Epoch ms. */
  readonly at: number;
  /** Whether its response said that it succeeded; otherwise nobody knows. */
  readonly isAcknowledged: boolean;
}

/**
 * What one browser does: it subscribes, changes its registration, and unsubscribes. It may do so before it has the
 * response to its last request, as two tabs or two users in a row do.
 */
export async function browserActor(
  world: World,
  environments: Environments,
  projectId: string,
  deployedCap: number | null,
  { origin, path, changes, unsubscribesAt, subscribesAt, storedPairNumber, ...first }: Browser,
  onSubscribed: (request: Subscribed) => void,
): Promise<void> {
  const { faults, scheduler } = world;
  const random = world.stream(`requests of ${path}`);
  const href = origin + path;
  const startedAt = scheduler.now;
  if (subscribesAt > 0) {
    await scheduler.sleep(subscribesAt);
    await made(subscribes(first));
  }
  for (const { afterMs, ...choice } of changes) {
    const isOver = unsubscribesAt !== undefined && sinceStart() + afterMs >= unsubscribesAt;
    if (isOver) break;
    await scheduler.sleep(afterMs);
    await made(subscribes(choice));
  }
  if (unsubscribesAt === undefined) return;
  await scheduler.sleep(unsubscribesAt - sinceStart());
  const requestedAt = scheduler.now;
  await environments.run(
    'unsubscribe',
    path,
    timeoutMs,
    async (run, { dynamo, identityProjects }) => {
      const signal = run.abortAfter(timeoutMs - 1000);
      const project = await identityProjects.find(projectId, signal);
      if (project === undefined) return;
      const subscriptions = subscriptionStore(dynamo, tables, run.clock, run.draw);
      await subscriptions.unsubscribe(project, href, requestedAt, signal);
    },
  );

  function sinceStart(): number {
    return scheduler.now - startedAt;
  }

  async function made(request: Promise<void>): Promise<void> {
    if (!faults.occurs('requests overlap')) await request;
  }

  async function subscribes({ userId, channels }: Choice): Promise<void> {
    const at = scheduler.now;
    await scheduler.sleep(
      faults.occurs('held request') ? random.between(1000, 8000) : random.latency(3, 500),
    );
    const outcome = await environments.run(
      'subscribe',
      path,
      timeoutMs,
      async (run, { dynamo, identityProjects: projects }) => {
        const signal = run.abortAfter(timeoutMs - 1000);
        const project = await projects.find(projectId, signal);
        if (project === undefined) throw new ServiceError('project_not_found', 'No such project.');
        const subscriptions = subscriptionStore(dynamo, tables, run.clock, run.draw);
        await subscribe(
          { subscriptions, projects, clock: run.clock },
          project,
          {
            endpoint: { href, origin, path },
            keys: browserKeys,
            ...{ userId, channels: [...channels] },
            applicationServerKey: publicKeyOf(storedPairNumber),
            requestedAt: at,
          },
          deployedCap ?? Number.MAX_SAFE_INTEGER,
          signal,
        );
      },
      (run) => run.note(() => `${path} is ${userId}, ${channels}`),
    );
    world.note(path, () => `subscribe: ${described(outcome)}`);
    onSubscribed({ path, at, userId, channels, isAcknowledged: outcome.kind === 'returned' });
  }
}
