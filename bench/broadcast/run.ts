import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { progressBar } from '../../admin/terminal/progress-bar.ts';
import { processTerminal } from '../../admin/terminal/terminal.ts';
import { pathOf, routes } from '../../contract/routes.ts';
import type { SendResult } from '../../contract/schemas.ts';
import { certificate } from '../../local/push-service/certificate.ts';
import { synthesize } from '../../local/template/synthesize.ts';
import { bundles } from '../bundle.ts';
import { startChild } from '../child.ts';
import type { Latency } from '../latency.ts';
import type { PushServerCounts } from '../push-server.ts';
import { projectId, seed } from './seed.ts';
import type { StackPlace, StackReport, StackTask } from './stack-process.ts';

export interface BroadcastRun extends StackReport {
  readonly subscribers: number;
  readonly result: SendResult;
  /** From the request to its response. */
  readonly seconds: number;
  readonly handshakes: number;
}

export interface Broadcasts {
  /** Broadcasts once to so many, on a stack of their own. */
  run(subscribers: number, latency: Latency): Promise<BroadcastRun>;
  end(): Promise<void>;
}

/** Synthesizes the stack that the broadcasts run on. */
export async function broadcasts(): Promise<Broadcasts> {
  const directory = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  const assembly = join(directory, 'assembly');
  const ca = join(directory, 'ca.pem');
  await writeFile(ca, certificate.cert);
  await synthesize({ directory: assembly });
  const made = await bundles();

  return {
    async run(subscribers, latency) {
      const [server, probe] = await Promise.all([
        made.of('bench/push-server.ts'),
        made.of('bench/broadcast/function-probe.ts'),
      ]);
      const pushServer = startChild(server.file, { args: [JSON.stringify(latency)] });
      const stack = startChild('bench/broadcast/stack-process.ts', {
        flags: ['--import', 'tsx'],
        env: { NODE_EXTRA_CA_CERTS: ca },
      });
      try {
        const { port } = await pushServer.receive<{ port: number }>();
        const pushOrigin = `https://127.0.0.1:${port}`;
        const task: StackTask = { assembly, pushOrigin, probe: probe.file };
        const place = await stack.ask<StackPlace>(task);
        const bar = progressBar(processTerminal.messages, 'Subscribing ', subscribers);
        const secretKey = await seed(place, pushOrigin, subscribers, bar.update);
        bar.stop();

        const counts = () => pushServer.ask<PushServerCounts>({});
        // A function that has never run would be measured with its start.
        await send(place, secretKey, { title: 'Nobody', userIds: ['nobody'] });
        await stack.ask({ probe: 'start' });
        const { result, seconds } = await watched(subscribers, counts, () =>
          send(place, secretKey, { title: 'Hello', body: 'x'.repeat(200) }),
        );
        const report = await stack.ask<StackReport>({ probe: 'stop' });
        const { handshakes } = await counts();
        return { subscribers, result, seconds, handshakes, ...report };
      } finally {
        await Promise.all([pushServer.stop(), stack.disconnect()]);
      }
    },
    async end() {
      await made.remove();
      await rm(directory, { recursive: true });
    },
  };
}

async function send({ baseUrl }: StackPlace, secretKey: string, notification: object) {
  const since = performance.now();
  const response = await fetch(`${baseUrl}${pathOf(routes.send, { projectId })}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secretKey}` },
    body: JSON.stringify(notification),
  });
  const result = (await response.json()) as SendResult;
  const seconds = (performance.now() - since) / 1000;
  if (response.status !== 201) throw new Error(`The send was answered ${JSON.stringify(result)}.`);
  return { result, seconds };
}

/** Shows on a bar how many pushes have arrived while something goes on. */
async function watched<Result>(
  expected: number,
  counts: () => Promise<PushServerCounts>,
  work: () => Promise<Result>,
): Promise<Result> {
  const bar = progressBar(processTerminal.messages, 'Broadcasting', expected);
  const look = setInterval(async () => bar.update((await counts()).received), 250);
  try {
    return await work();
  } finally {
    clearInterval(look);
    bar.stop();
  }
}
