import { newVapidPair } from '../admin/vapid-pair.ts';
import type { VapidKeys } from '../contract/project.ts';
import type { Bundler } from './bundler.ts';
import { certificate } from './certificate.ts';
import { startChild } from './child.ts';
import type { Latency } from './latency.ts';
import type { PushServerCounts } from './push-server.ts';
import type { SenderResult, SenderTask } from './sender-process.ts';

export interface Load extends Pick<SenderTask, 'pushes' | 'warmUpPushes' | 'inFlight' | 'rounds'> {
  readonly latency: Latency;
}

export interface Run extends SenderResult {
  readonly pushesPerSecond: number;
  readonly handshakes: number;
}

const vapid: VapidKeys = newVapidPair();
/** 300 bytes of JSON, a typical push message. */
const payload = JSON.stringify({ title: 'Hello', body: 'x'.repeat(300 - 29) });

/** Runs a sender in a new process against a new push server, and checks the received pushes. */
export async function runSender(
  bundler: Bundler,
  entry: string,
  { latency, ...load }: Load,
): Promise<Run> {
  const [server, sender] = await Promise.all([
    bundler.bundle('bench/push-server.ts'),
    bundler.bundle(entry),
  ]);
  const pushServer = startChild(server, { args: [JSON.stringify(latency)] });
  const child = startChild(sender);
  try {
    const { port } = await pushServer.receive<{ port: number }>();
    const task: SenderTask = {
      origin: `https://127.0.0.1:${port}`,
      ca: certificate.cert,
      vapid,
      payload,
      ...load,
    };
    const result = await child.request<SenderResult | { readonly error: string }>(task);
    if ('error' in result) throw new Error(`${entry}: ${result.error}`);
    const counts = await pushServer.request<PushServerCounts>({});
    const expected = load.warmUpPushes + load.pushes;
    if (counts.refused > 0 || counts.accepted !== expected) {
      throw new Error(
        `${entry}: the push server accepted ${counts.accepted} of ${expected} pushes and refused ${counts.refused}.`,
      );
    }
    const { handshakes } = counts;
    return { ...result, pushesPerSecond: load.pushes / result.seconds, handshakes };
  } finally {
    await Promise.all([pushServer.stop(), child.stop()]);
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return Number.isInteger(middle)
    ? (sorted[middle - 1]! + sorted[middle]!) / 2
    : sorted[Math.floor(middle)]!;
}
