import type { EventType } from '../../contract/wire/event.ts';
import { backgroundPauseMs, type Failure, isTransient, requestOnce } from '../common/service.ts';
import { updateEntry } from '../common/storage.ts';
import { attemptWhileRunning, pauseAfterMs, remainingMs, type Timing } from '../common/timing.ts';
import type { NotificationData } from './message.ts';

/** The oldest is dropped. More than the notifications that a browser shows at once. */
const maxStoredEvents = 256;
/** An event that is being sent is claimed for this time: by then the request has ended, or its worker. */
const claimMs = 20_000;

/** An event of a notification in this browser. */
export interface StoredEvent {
  /** Its type and the notification's id. */
  readonly key: string;
  /** URL to report it to. */
  readonly url: string;
  /** The body of the request. */
  readonly body: string;
  readonly attempts: number;
  /**
   * Time of the next attempt, in milliseconds since the epoch. Infinity once no attempt is needed: the
   * event stays stored, so that it is not reported again if the message is delivered twice.
   */
  readonly dueAt: number;
}

export type StoredEvents = readonly StoredEvent[];

interface Environment extends Timing {
  /** Changes the stored events in one transaction, and returns them. */
  readonly update: (change: (events: StoredEvents) => StoredEvents) => Promise<StoredEvents>;
}

/**
 * Reports an event, once per notification and event type in this browser: stores it, waits for a random
 * part of the window, and sends it. Also sends what an earlier run of the worker has stored and not sent.
 */
export async function reportEvent(
  type: EventType,
  { id, events: url }: NotificationData,
  windowMs: number,
  environment: Environment,
): Promise<void> {
  if (!id || !url) return;
  const { now, random, update } = environment;
  const key = `${type} ${id}`;
  const dueAt = now() + random() * windowMs;
  const event = { key, url, body: `{"type":"${type}"}`, attempts: 0, dueAt };
  await update((events) =>
    events.some((stored) => stored.key === key)
      ? events
      : [...events, event].slice(-maxStoredEvents),
  );
  await attemptWhileRunning(() => sendDueEvents(environment), environment);
}

/** @returns milliseconds until the next event is due. Infinity: all are sent. */
async function sendDueEvents(environment: Environment): Promise<number> {
  const { now, update } = environment;
  const time = now();
  let claimed: StoredEvent[] = [];
  let stored = await update((events) => {
    claimed = [];
    return events.map((event) => {
      const { attempts, dueAt } = event;
      if (dueAt === Number.POSITIVE_INFINITY || remainingMs(dueAt, time) > 0) return event;
      const claim = { ...event, attempts: attempts + 1, dueAt: time + claimMs };
      claimed.push(claim);
      return claim;
    });
  });
  await Promise.all(
    claimed.map(async (event) => {
      const dueAt = await send(event, environment);
      stored = await update((events) =>
        events.map((other) => (other.key === event.key ? { ...event, dueAt } : other)),
      );
    }),
  );
  return Math.min(...stored.map(({ dueAt }) => dueAt)) - now();
}

/** @returns the time of the next attempt. Infinity: none is needed. */
async function send(
  { url, body, attempts }: StoredEvent,
  environment: Environment,
): Promise<number> {
  // Browsers send no preflight for text/plain, the type of a body that is a string. The URL is used as
  // it is; a malformed one rejects, and is not tried again.
  const failure: Failure | undefined = await requestOnce(url, { method: 'POST', body }).catch(
    (one) => one,
  );
  return failure && isTransient(failure)
    ? environment.now() + pauseAfterMs(failure, backgroundPauseMs, attempts, environment)
    : Number.POSITIVE_INFINITY;
}

let lastEvents: StoredEvents = [];

/**
 * Changes the stored events of the scope in one transaction. If the browser denies storage, they last as long as the
 * worker.
 * @param change has no side effects: it may be called twice.
 */
export async function updateEvents(
  change: (events: StoredEvents) => StoredEvents,
  scope = '',
): Promise<StoredEvents> {
  const stored = await updateEntry<StoredEvents>(`events ${scope}`, (events = []) =>
    change(events),
  ).catch(() => undefined);
  lastEvents = stored ?? change(lastEvents);
  return lastEvents;
}
