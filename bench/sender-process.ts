import { createECDH, randomBytes } from 'node:crypto';
import type { VapidKeys } from '../contract/wire/project.ts';

export interface Subscription {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

/** What a sender's process does. */
export interface SenderTask {
  readonly origin: string;
  /** Certificate to trust, PEM. */
  readonly ca: string;
  readonly vapid: VapidKeys;
  readonly payload: string;
  /** Whether web-push sends one VAPID token with all pushes. */
  readonly cachesToken: boolean;
  readonly inFlight: number;
  /** Number of pushes before the measurement. */
  readonly warmUpPushes: number;
  /** Number of measured pushes. */
  readonly pushes: number;
  /** Number of parts in which pushes and key agreements alternate. */
  readonly rounds: number;
}

export interface SenderResult {
  readonly seconds: number;
  /** User and system time over all threads. */
  readonly cpuUsPerPush: number;
  /** CPU time of the key agreements only, measured in the same process. */
  readonly floorUsPerPush: number;
  readonly peakMemoryMB: number;
}

/** Prepares a sender. @returns a function that pushes the payload to each subscription. */
export type Sender = (
  task: SenderTask,
) => (subscriptions: readonly Subscription[]) => Promise<void>;

export const subject = 'mailto:ops@example.com';
/** TTL of each push, in seconds. */
export const ttl = 60;

/** Makes this process a sender: its argument is a task, and it sends the result. An error ends it. */
export function serve(sender: Sender): void {
  void run(sender, JSON.parse(process.argv[2]!)).then((result) => process.send!(result));
}

async function run(sender: Sender, task: SenderTask): Promise<SenderResult> {
  const send = sender(task);
  await send(subscriptions(task.origin, task.warmUpPushes));
  const audience = subscriptions(task.origin, task.pushes);
  const pushing = new Stopwatch();
  const agreeing = new Stopwatch();
  const partLength = Math.ceil(task.pushes / task.rounds);
  for (let start = 0; start < task.pushes; start += partLength) {
    const part = audience.slice(start, start + partLength);
    await pushing.time(() => send(part));
    await agreeing.time(() => agreeKeys(part));
  }
  return {
    seconds: pushing.seconds,
    cpuUsPerPush: pushing.cpuUs / task.pushes,
    floorUsPerPush: agreeing.cpuUs / task.pushes,
    peakMemoryMB: process.resourceUsage().maxRSS / 1024,
  };
}

const curve = createECDH('prime256v1');

/**
 * The floor of a sender that makes a key pair for each message, as RFC 8291 §3.1 says, and agrees on a key: the
 * fastest way in Node. One key pair per subscription would go below it, and give up forward secrecy.
 */
function agreeKeys(subscriptions: readonly Subscription[]): void {
  for (const { keys } of subscriptions) {
    curve.generateKeys();
    curve.computeSecret(keys.p256dh, 'base64url');
  }
}

/** Adds up the time that some work takes in this process. */
class Stopwatch {
  seconds = 0;
  /** User and system time over all threads, in µs. */
  cpuUs = 0;

  async time(work: () => unknown): Promise<void> {
    const start = performance.now();
    const cpuBefore = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(cpuBefore);
    this.cpuUs += user + system;
    this.seconds += (performance.now() - start) / 1000;
  }
}

/** Number of key pairs. Further subscriptions share them. */
const keyPairs = 500;

function subscriptions(origin: string, count: number): Subscription[] {
  const curve = createECDH('prime256v1');
  const keys = Array.from({ length: Math.min(keyPairs, count) }, () => ({
    p256dh: curve.generateKeys('base64url'),
    auth: randomBytes(16).toString('base64url'),
  }));
  return Array.from({ length: count }, (_, index) => ({
    endpoint: `${origin}/push/${index}`,
    keys: keys[index % keyPairs]!,
  }));
}
