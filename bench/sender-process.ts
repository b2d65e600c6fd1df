import { createECDH, randomBytes } from 'node:crypto';
import type { VapidKeys } from '../contract/project.ts';
import { agreeWithAll, type Subscription } from './floor.ts';
import { Stopwatch } from './stopwatch.ts';

/** What a process that sends is told to do. */
export interface SenderTask {
  readonly origin: string;
  /** Certificate to trust, PEM. */
  readonly ca: string;
  readonly vapid: VapidKeys;
  readonly payload: string;
  readonly inFlight: number;
  /** Pushes before the measurement, and in it. */
  readonly warmUp: number;
  readonly number: number;
  /** Turns that the pushes take with the floor; 0 for pushes alone. */
  readonly turns: number;
}

export interface SenderResult {
  readonly seconds: number;
  /** Of user and system, over all threads: µs per push. */
  readonly cpu: number;
  /** The same of the floor, in the same process and the same seconds; 0 where it had no turns. */
  readonly floor: number;
  /** MB, at the most. */
  readonly memory: number;
}

/** Prepares a sender; what it returns pushes the payload to every one of some subscriptions. */
export type Sender = (
  task: SenderTask,
) => (subscriptions: readonly Subscription[]) => Promise<void>;

export const subject = 'mailto:ops@example.com';
export const ttl = 60;

/** Makes this process a sender that does one task and tells how it went. */
export function serve(sender: Sender): void {
  process.once('message', (task: SenderTask) =>
    run(sender, task).then(
      (result) => process.send!(result),
      (error) => process.send!({ error: String(error) }),
    ),
  );
}

async function run(sender: Sender, task: SenderTask): Promise<SenderResult> {
  const send = sender(task);
  if (task.warmUp > 0) await send(subscriptions(task.origin, task.warmUp));
  const audience = subscriptions(task.origin, task.number);
  const pushes = new Stopwatch();
  const floor = new Stopwatch();
  const length = Math.ceil(task.number / Math.max(1, task.turns));
  for (let start = 0; start < task.number; start += length) {
    const part = audience.slice(start, start + length);
    await pushes.time(() => send(part));
    if (task.turns > 0) await floor.time(() => agreeWithAll(part));
  }
  return {
    seconds: pushes.seconds,
    cpu: pushes.cpu / task.number,
    floor: floor.cpu / task.number,
    memory: process.resourceUsage().maxRSS / 1024,
  };
}

/** Pushes one by one through a function, so many at once; for senders that know no more than one. */
export async function eachInFlight(
  all: readonly Subscription[],
  inFlight: number,
  push: (subscription: Subscription) => Promise<{ status: number }>,
): Promise<void> {
  const waiting = all.values();
  const worker = async () => {
    for (const subscription of waiting) {
      const { status } = await push(subscription);
      if (status !== 201) throw new Error(`The push server answered ${status}.`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

/** Browsers there are; subscriptions beyond share their keys. */
const browsers = 500;

function subscriptions(origin: string, number: number): Subscription[] {
  const curve = createECDH('prime256v1');
  const keys = Array.from({ length: Math.min(browsers, number) }, () => ({
    p256dh: curve.generateKeys('base64url'),
    auth: randomBytes(16).toString('base64url'),
  }));
  return Array.from({ length: number }, (_, index) => ({
    endpoint: `${origin}/push/${index}`,
    keys: keys[index % browsers]!,
  }));
}
