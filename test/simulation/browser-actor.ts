import type { Choice } from '../../contract/wire/fields.ts';
import { choiceText } from './conditions.ts';
import type { Environments } from './environments.ts';
import { request } from './gateway.ts';
import { storedKeys, vapidPairs } from './push-services.ts';
import type { Browser } from './scenario.ts';
import type { World } from './world.ts';

/** A request to subscribe. */
export interface Subscribed {
  readonly choice: Choice;
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
  { origin, path, changes, unsubscribesAt, subscribesAt, storedPairNumber, choice: first }: Browser,
  onSubscribed: (request: Subscribed) => void,
): Promise<void> {
  const { faults, scheduler } = world;
  const random = world.stream(`requests of ${path}`);
  const endpoint = origin + path;
  const startedAt = scheduler.now;
  if (subscribesAt > 0) {
    await scheduler.sleep(subscribesAt);
    await made(subscribes(first));
  }
  for (const { afterMs, choice } of changes) {
    const isOver = unsubscribesAt !== undefined && sinceStart() + afterMs >= unsubscribesAt;
    if (isOver) break;
    await scheduler.sleep(afterMs);
    await made(subscribes(choice));
  }
  if (unsubscribesAt === undefined) return;
  await scheduler.sleep(unsubscribesAt - sinceStart());
  const unsubscribe = { function: 'unsubscribe', requestId: path, query: { endpoint } } as const;
  await request(world, environments, unsubscribe, 0);

  function sinceStart(): number {
    return scheduler.now - startedAt;
  }

  async function made(request: Promise<void>): Promise<void> {
    if (!faults.occurs('requests overlap')) await request;
  }

  async function subscribes(choice: Choice): Promise<void> {
    const at = Math.floor(scheduler.now);
    const startsInMs = faults.occurs('held request')
      ? random.between(1000, 8000)
      : random.latency(3, 500);
    const body = {
      endpoint,
      keys: { p256dh: base64url(storedKeys.p256dh), auth: base64url(storedKeys.auth) },
      ...choice,
      userId: choice.userId ?? null,
      applicationServerKey: vapidPairs[storedPairNumber]!.publicKey,
    };
    const subscribe = { function: 'subscribe', requestId: path, body } as const;
    const { status } = await request(world, environments, subscribe, startsInMs, (run) =>
      run.note(() => `${path} is ${choiceText(choice)}`),
    );
    onSubscribed({ path, at, choice, isAcknowledged: status === 201 });
  }
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}
