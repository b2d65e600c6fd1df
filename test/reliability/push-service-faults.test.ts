import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { subscriptionKey } from '../../lambdas/store/items.ts';
import { recipient } from '../fixtures/recipient.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { subscription } from '../fixtures/subscription.ts';

/** A push service that responds as {@link respond} says, not necessarily with HTTP. */
let faulty: Server;
let service: Service;
let project: ProjectCredentials;
let respond: (socket: Socket) => void;

beforeAll(async () => {
  faulty = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => respond(socket));
  });
  faulty.listen(0, '127.0.0.1');
  await once(faulty, 'listening');
  service = await startService({
    environment: { EXTRA_PUSH_ORIGINS: `${originOf(faulty)},http://127.0.0.1:1` },
  });
});
afterAll(async () => {
  await service.stop();
  faulty.close();
});
beforeEach(async () => {
  project = await service.createProject();
});

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Stores a subscription without the checks of subscribe. */
async function store(endpoint: string): Promise<void> {
  const { keys } = subscription();
  const { SUBSCRIPTIONS_TABLE, USAGE_TABLE } = service.stack.dynamodb.tables;
  const { ref } = project;
  const stored = recipient({ endpoint, keys });
  const Item = { ...stored, ...subscriptionKey(ref, stored.endpointHash), createdAt: Date.now() };
  await service.dynamo.send(new PutCommand({ TableName: SUBSCRIPTIONS_TABLE, Item }));
  await service.dynamo.send(
    new UpdateCommand({
      TableName: USAGE_TABLE,
      Key: { projectRef: ref, period: 'subscribers#0' },
      UpdateExpression: 'ADD used :one',
      ExpressionAttributeValues: { ':one': 1 },
    }),
  );
}

/** Sends to the stored subscriber and to a healthy one, who must get the message. */
async function sendToBoth(): Promise<{ removed: number; failed: number; stored: number }> {
  const healthy = await service.subscribe(project);
  const { status, body } = await service.send(project, { title: 'T' });
  expect(status).toBe(201);
  expect(body).toMatchObject({ attempted: 2, delivered: 1 });
  expect(healthy.messages).toHaveLength(1);
  const { subscribers } = await service.usage(project.projectId);
  return { removed: body.removed, failed: body.failed, stored: subscribers };
}

const failed = { removed: 0, failed: 1, stored: 2 };

describe('a faulty push service affects only its own subscribers', () => {
  test.each([
    ['it refuses connections', 'http://127.0.0.1:1/push/refused'],
    ['its name does not resolve', 'https://no-such-host-of-carillon.notify.windows.com/w/?token=x'],
  ])('%s', async (_, endpoint) => {
    await store(endpoint);
    expect(await sendToBoth()).toEqual(failed);
  });

  test.each([
    ['closes the connection', (socket) => socket.end()],
    ['resets the connection', (socket) => socket.resetAndDestroy()],
    ['does not use HTTP', (socket) => socket.end('SSH-2.0-none\r\n\r\n')],
    ['sends an incomplete head', (socket) => socket.end('HTTP/1.1 201 Cre')],
  ] as [string, typeof respond][])('it %s', async (_, fault) => {
    respond = fault;
    await store(`${originOf(faulty)}/push/x`);
    expect(await sendToBoth()).toEqual(failed);
  });

  test('it sends an endless head, and the function closes the connection', async () => {
    let sent = 0;
    respond = (socket) => {
      sendEndlessHead(socket);
      socket.on('close', () => {
        sent += socket.bytesWritten;
      });
    };
    await store(`${originOf(faulty)}/push/x`);
    expect(await sendToBoth()).toEqual(failed);
    // Three attempts, each with the bytes that fit into the system's buffers.
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(50_000_000);
  });

  test('it sends an incomplete body, and its status counts', async () => {
    respond = (socket) => socket.end('HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\nhalf');
    await store(`${originOf(faulty)}/push/x`);
    const { body } = await service.send(project, { title: 'T' });
    expect(body).toMatchObject({ attempted: 1, delivered: 1 });
  });
});

/** Sends headers until the other side stops reading. */
function sendEndlessHead(socket: Socket): void {
  socket.write('HTTP/1.1 201 Created\r\n');
  const more = () => {
    while (!socket.destroyed && socket.write(`X-More: ${'x'.repeat(1000)}\r\n`));
  };
  socket.on('drain', more);
  more();
}

describe('a send whose function is killed notifies nobody twice', () => {
  test('it returns 500 and keeps its unit, and its repetition returns the counts when its time is over', async () => {
    const [fast, slow] = [await service.subscribe(project), await service.subscribe(project)];
    slow.behave({ stall: true });
    const idempotent = { 'idempotency-key': 'order-1' };
    const sending = service.send(project, { title: 'T' }, idempotent);
    await fast.nextMessage();
    const [, send] = [...service.stack.functions].find(([name]) => name.startsWith('Send'))!;
    await send.kill();
    expect((await sending).status).toBe(500);
    expect(await service.usage(project.projectId)).toMatchObject({ sends: 1, subscribers: 2 });
    const repetition = await service.send(project, { title: 'T' }, idempotent);
    expect(repetition.status).toBe(409);
    expect(repetition.body).toMatchObject({ error: { code: 'request_in_progress' } });
    await sleep(1000 * Number(repetition.headers.get('retry-after')));
    const later = await service.send(project, { title: 'T' }, idempotent);
    expect(later.status).toBe(201);
    expect(later.body).toMatchObject({ attempted: 2, removed: 0 });
    expect(later.body.delivered + later.body.failed).toBe(2);
    slow.behave({});
    const next = await service.send(project, { title: 'U' });
    expect(next.body).toMatchObject({ attempted: 2, delivered: 2 });
    expect(fast.messages).toHaveLength(2);
  });
});
