import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathOf } from '../../contract/path-of.ts';
import { routes } from '../../contract/routes.ts';
import type { DeliveryCounts } from '../../contract/schemas/delivery-counts.ts';
import type { NotificationResult, SendResult } from '../../contract/schemas/notification.ts';
import { provideAssembly } from '../../local/assembly.ts';
import { createBundler } from '../bundler.ts';
import { certificate } from '../certificate.ts';
import { startChild } from '../child.ts';
import type { Latency } from '../latency.ts';
import type { PushServerCounts } from '../push-server.ts';
import { projectId, seed } from './seed.ts';
import type { StackAddress, StackReport, StackTask } from './stack-process.ts';

export interface BroadcastRun extends StackReport {
  readonly subscribers: number;
  readonly result: Pick<SendResult, keyof DeliveryCounts | 'unreached'>;
  /** Pushes that the push server received. */
  readonly received: number;
  /** From the request to the response, or until the notification is sent. */
  readonly seconds: number;
  readonly handshakes: number;
}

/** Synthesizes the stack for the runs. */
export async function createBroadcastRunner() {
  const directory = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  const assembly = join(directory, 'assembly');
  const ca = join(directory, 'ca.pem');
  await writeFile(ca, certificate.cert);
  await provideAssembly({ directory: assembly });
  const bundler = await createBundler();

  return {
    /**
     * Starts a stack with this many subscribers and sends one broadcast.
     * @param respondAsync whether the caller does not wait, and reads the notification until it is sent.
     */
    async run(subscribers: number, latency: Latency, respondAsync: boolean): Promise<BroadcastRun> {
      const server = await bundler.bundle('bench/push-server.ts');
      const pushServer = startChild(server, { args: [JSON.stringify(latency)] });
      const stack = startChild('bench/broadcast/stack-process.ts', {
        flags: ['--import', 'tsx'],
        env: { NODE_EXTRA_CA_CERTS: ca },
      });
      try {
        const { port } = await pushServer.receive<{ port: number }>();
        const pushOrigin = `https://127.0.0.1:${port}`;
        const task: StackTask = { assembly, pushOrigin };
        const address = await stack.request<StackAddress>(task);
        const secretKey = await seed(address, pushOrigin, subscribers);
        // Starts the function, so that the measurement excludes its cold start.
        await send(address, secretKey, { title: 'Nobody', userIds: ['nobody'] });
        await stack.request({ start: true });
        const content = { title: 'Hello', body: 'x'.repeat(200) };
        const { result, seconds } = await send(address, secretKey, content, respondAsync);
        const report = await stack.request<StackReport>({ start: false });
        const { handshakes, received } = await pushServer.request<PushServerCounts>({});
        return { subscribers, result, seconds, handshakes, received, ...report };
      } finally {
        await Promise.all([pushServer.stop(), stack.disconnect()]);
      }
    },
    /** Deletes the files of the runs. */
    async remove() {
      await bundler.remove();
      await rm(directory, { recursive: true });
    },
  };
}

async function send(
  { baseUrl }: StackAddress,
  secretKey: string,
  notification: object,
  respondAsync = false,
) {
  const start = performance.now();
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${secretKey}`,
    ...(respondAsync && { prefer: 'respond-async' }),
  };
  const response = await fetch(`${baseUrl}${pathOf(routes.send, { projectId })}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(notification),
  });
  const sent = (await response.json()) as SendResult;
  if (!response.ok) {
    throw new Error(`The send failed with ${response.status}: ${JSON.stringify(sent)}`);
  }
  const path = pathOf(routes.getNotification, { projectId, notificationId: sent.id });
  const result = respondAsync ? await readUntilSent(baseUrl + path, headers) : sent;
  return { result, seconds: (performance.now() - start) / 1000 };
}

async function readUntilSent(url: string, headers: Record<string, string>) {
  for (;;) {
    const response = await fetch(url, { headers });
    if (!response.ok) throw new Error(`The notification cannot be read: ${response.status}`);
    const notification = (await response.json()) as NotificationResult;
    if (notification.status !== 'sending') return notification;
    await sleep(250);
  }
}
