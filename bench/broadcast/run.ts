/**
 * Sends one broadcast through a local stack in this process, whose memory is measured, and sends its results to the
 * process that started it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pathOf } from '../../contract/text/addresses.ts';
import type { DeliveryCounts } from '../../contract/wire/counts.ts';
import type { NotificationResult, SendResult } from '../../contract/wire/notification.ts';
import { routes } from '../../contract/wire/routes.ts';
import { startStack } from '../../local/stack.ts';
import { projectId, seed } from './seed.ts';

export interface BroadcastTask {
  /** Directory of the synthesized assembly. */
  readonly assembly: string;
  /** Origin of the push server. */
  readonly pushOrigin: string;
  readonly subscribers: number;
  /** Whether the caller does not wait, and reads the notification until it is sent. */
  readonly isAsync: boolean;
}

export interface BroadcastResult {
  readonly result: Pick<SendResult, keyof DeliveryCounts | 'unreached'>;
  /** From the request to the response, or until the notification is sent. */
  readonly seconds: number;
  /** The whole process: gateway, functions and DynamoDB proxy. */
  readonly peakMemoryMB: number;
  /** Calls to DynamoDB during the broadcast, by operation. */
  readonly calls: Readonly<Record<string, number>>;
}

const task = JSON.parse(process.argv[2]!) as BroadcastTask;
let calls: Record<string, number> = {};
const stack = await startStack({
  assembly: task.assembly,
  environment: { EXTRA_PUSH_ORIGINS: task.pushOrigin },
  onDynamoDbCall: ({ operation }) => {
    calls[operation] = (calls[operation] ?? 0) + 1;
    return undefined;
  },
});
try {
  const secretKey = await seed(stack.dynamodb, task.pushOrigin, task.subscribers);
  // Starts the function, so that the measurement excludes its cold start.
  await broadcast(secretKey, { title: 'Nobody', userIds: ['nobody'] }, false);
  calls = {};
  const content = { title: 'Hello', body: 'x'.repeat(200) };
  const start = performance.now();
  const result = await broadcast(secretKey, content, task.isAsync);
  const seconds = (performance.now() - start) / 1000;
  const peakMemoryMB = process.resourceUsage().maxRSS / 1024;
  process.send!({ result, seconds, peakMemoryMB, calls } satisfies BroadcastResult);
} finally {
  await stack.stop();
  process.disconnect();
}

async function broadcast(secretKey: string, notification: object, isAsync: boolean) {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${secretKey}`,
    ...(isAsync && { prefer: 'respond-async' }),
  };
  const request = { method: 'POST', headers, body: JSON.stringify(notification) };
  const sent = await call<SendResult>(pathOf(routes.send, { projectId }), request);
  if (!isAsync) return sent;
  const path = pathOf(routes.getNotification, { projectId, notificationId: sent.id });
  for (;;) {
    const read = await call<NotificationResult>(path, { headers });
    if (read.status !== 'sending') return read;
    await sleep(250);
  }
}

async function call<Body>(path: string, request: RequestInit): Promise<Body> {
  const response = await fetch(stack.baseUrl + path, request);
  const body = await response.json();
  if (response.ok) return body as Body;
  throw new Error(`${path} returned ${response.status}: ${JSON.stringify(body)}`);
}
