import type { PushMessage } from '../../contract/wire/message.ts';
import {
  NoResponseError,
  NotStartedError,
  type PushResponse,
} from '../../lambdas/push/transport/response.ts';
import type { PushRequest, Transport } from '../../lambdas/push/transport/transport.ts';
import type { FunctionRun } from './function-run.ts';
import type { PushAttempt, World } from './world.ts';

/** Origins of three push services, one of which has several. */
export const origins = [
  'https://fcm.googleapis.com',
  'https://updates.push.services.mozilla.com',
  'https://a.push.apple.com',
  'https://b.push.apple.com',
] as const;

/** Public key of a pair, with which the simulation also signs. */
export const publicKeyOf = (number: number) => `key ${number}`;

/** Longer than until the next attempt of a push after one without connection or with a transient error. */
const retryMs = 4000;

/** What a push service knows of a subscription. */
export interface KnownSubscription {
  readonly isGone: boolean;
  /** Number of the pair that it was made with. */
  readonly vapidPairNumber: number;
}

export interface SimulatedPusher {
  /** Its number. */
  readonly pusher: number;
  /** What it has encrypted, by the paths of the recipients. */
  readonly notifications: ReadonlyMap<string, PushMessage['notification']>;
}

/** The push services, as one pusher of a function sees them. */
export function simulatedTransport(
  world: World,
  run: FunctionRun,
  subscriptions: ReadonlyMap<string, KnownSubscription>,
  { pusher, notifications }: SimulatedPusher,
): Transport {
  const { faults, scheduler } = world;
  const { random } = run;
  return ({ path, timeoutMs, headers, mayStart }: PushRequest) =>
    new Promise((resolve, reject) => {
      const { title, data } = notifications.get(path)!;
      world.started.set(data.id, (world.started.get(data.id) ?? 0) + 1);
      const opensIn = faults.occurs('slow connection') ? random.between(500, 9000) : 0;
      const took = faults.occurs('slow push') ? random.between(1000, 15_000) : random.latency(30);
      if (opensIn + took > 500) run.delay(opensIn + took);
      const isSent = opensIn < timeoutMs;
      run.after(timeoutMs, () =>
        reject(new NoResponseError('time-out', { isTimeout: true, isSent })),
      );
      if (run.crashes('crash before a call', () => `push ${path}`)) return;
      if (faults.occurs('push not sent')) {
        run.note(() => `no connection: ${path}`);
        run.delay(retryMs);
        run.after(random.between(1, 3000), () => reject(new NoResponseError('connection refused')));
        return;
      }
      // A connection that opens too late is closed.
      if (isSent) run.after(opensIn, write);

      /** The push starts: its bytes are written, all at once. */
      function write(): void {
        if (!mayStart()) {
          run.note(() => `may not start: ${path}`);
          reject(new NotStartedError());
          return;
        }
        const attempt: PushAttempt = {
          ...{ notificationId: data.id, title, path },
          ...{ run: run.name, pusher, requestId: run.requestId, startedAt: scheduler.now },
          ...{ isAccepted: false, isHeard: false, isMismatch: false, isTransient: false },
        };
        world.attempts.push(attempt);
        scheduler.after(took / 2, () => {
          const isLost = faults.occurs('push without response') || opensIn + took > timeoutMs;
          const response = respond(subscriptions.get(path)!, headers.Authorization!);
          const { status } = response;
          attempt.isAccepted = status === 201;
          attempt.isHeard = !isLost;
          attempt.isMismatch = status === 401 && !isLost;
          attempt.isTransient = !isLost && (status === 401 || status === 429 || status >= 500);
          if (status === 429 || status >= 500) run.delay(retryMs);
          run.note(() => `push ${path}: ${status}${isLost ? ', response lost' : ''}`);
          if (isLost || (run.isAlive && run.crashes('crash after a call', () => `push ${path}`)))
            return;
          run.after(took / 2, () => resolve(response));
        });
      }
    });

  function respond({ isGone, vapidPairNumber }: KnownSubscription, key: string): PushResponse {
    if (faults.occurs('push throttled')) return { status: 429, headers: {}, body: '' };
    if (faults.occurs('push throttled with Retry-After')) {
      const seconds = random.pick([1, 5, 60]);
      return { status: 429, headers: { 'retry-after': String(seconds) }, body: '' };
    }
    if (faults.occurs('push refused with an error')) {
      return { status: random.pick([500, 503, 403, 400]), headers: {}, body: '' };
    }
    if (isGone) return { status: random.pick([404, 410]), headers: {}, body: '' };
    if (key !== publicKeyOf(vapidPairNumber)) {
      return { status: 401, headers: {}, body: 'VAPID public key mismatch' };
    }
    return { status: 201, headers: {}, body: '' };
  }
}
