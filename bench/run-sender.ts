import { newVapidPair } from '../admin/vapid-pair.ts';
import type { VapidKeys } from '../contract/project.ts';
import { certificate } from '../local/push-service/certificate.ts';
import type { Bundles } from './bundle.ts';
import { startChild } from './child.ts';
import type { Latency } from './latency.ts';
import type { PushServerCounts } from './push-server.ts';
import type { SenderResult, SenderTask } from './sender-process.ts';

export interface Load {
  readonly number: number;
  readonly warmUp: number;
  readonly inFlight: number;
  /** Turns that the pushes take with the floor; 0 for pushes alone. */
  readonly turns: number;
  readonly latency: Latency;
}

export interface Run extends SenderResult {
  /** Pushes a second. */
  readonly rate: number;
  readonly handshakes: number;
  readonly resumed: number;
}

const vapid: VapidKeys = newVapidPair();
/** 300 bytes of JSON, as a notification has them. */
const payload = JSON.stringify({ title: 'Hello', body: 'x'.repeat(300 - 29) });

/** Runs a sender in a fresh process against a fresh push server, and checks what arrived. */
export async function runSender(
  bundles: Bundles,
  entry: string,
  { latency, ...load }: Load,
): Promise<Run> {
  const [server, sender] = await Promise.all([
    bundles.of('bench/push-server.ts'),
    bundles.of(entry),
  ]);
  const pushServer = startChild(server.file, { args: [JSON.stringify(latency)] });
  const child = startChild(sender.file);
  try {
    const { port } = await pushServer.receive<{ port: number }>();
    const task: SenderTask = {
      origin: `https://127.0.0.1:${port}`,
      ca: certificate.cert,
      vapid,
      payload,
      ...load,
    };
    const result = await child.ask<SenderResult | { readonly error: string }>(task);
    if ('error' in result) throw new Error(`${entry}: ${result.error}`);
    const counts = await pushServer.ask<PushServerCounts>({});
    const expected = load.warmUp + load.number;
    if (counts.refused > 0 || ![0, expected].includes(counts.accepted)) {
      throw new Error(`${entry} made ${counts.accepted} of ${expected} pushes arrive.`);
    }
    const { handshakes, resumed } = counts;
    return { ...result, rate: load.number / result.seconds, handshakes, resumed };
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
