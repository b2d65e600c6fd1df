import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { endpointHash } from '../../lambdas/store/subscriptions.ts';
import type { Behaviour } from '../../local/push-service/behaviour.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { subscription } from '../fixtures/subscription.ts';

/** A push service that treats connections as no HTTP server would. */
let misbehaving: Server;
let service: Service;
let project: ProjectCredentials;
let respond: (socket: Socket) => void;

beforeAll(async () => {
  misbehaving = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => respond(socket));
  });
  misbehaving.listen(0, '127.0.0.1');
  await once(misbehaving, 'listening');
  service = await startService({
    environment: { EXTRA_PUSH_ORIGINS: `${originOf(misbehaving)},http://127.0.0.1:1` },
  });
});
afterAll(async () => {
  await service.stop();
  misbehaving.close();
});
beforeEach(async () => {
  project = await service.createProject();
});

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Stores a subscription as if it had been admitted once, whatever its endpoint. */
async function store(endpoint: string): Promise<void> {
  const { keys } = subscription();
  const { SUBSCRIPTIONS_TABLE, USAGE_TABLE } = service.stack.dynamodb.tables;
  const { projectId } = project;
  const Item = { projectId, endpointHash: endpointHash(endpoint), endpoint, ...keys };
  await service.dynamo.send(new PutCommand({ TableName: SUBSCRIPTIONS_TABLE, Item }));
  await service.dynamo.send(
    new UpdateCommand({
      TableName: USAGE_TABLE,
      Key: { projectId, period: 'subscribers' },
      UpdateExpression: 'ADD used :one',
      ExpressionAttributeValues: { ':one': 1 },
    }),
  );
}

/** Sends to one faulty subscriber and one that is well, who is to be reached whatever happens. */
async function sendBeside(): Promise<{ removed: number; failed: number; left: number }> {
  const well = await service.subscribe(project);
  const { status, body } = await service.send(project, { title: 'T' });
  expect(status).toBe(201);
  expect(body).toMatchObject({ attempted: 2, delivered: 1 });
  expect(well.messages).toHaveLength(1);
  const { subscribers } = await service.usage(project.projectId);
  return { removed: body.removed, failed: body.failed, left: subscribers };
}

const kept = { removed: 0, failed: 1, left: 2 };
const deleted = { removed: 1, failed: 0, left: 1 };

describe('an answer of a push service means what it should, and costs no other subscriber', () => {
  const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
  const answers: [string, Behaviour, typeof kept][] = [
    ['400', { status: 400 }, kept],
    ['400 for the key of another', { status: 400, body: '{"reason":"VapidPkHashMismatch"}' }, kept],
    ['401', { status: 401 }, kept],
    ['403', { status: 403 }, kept],
    ['404', { status: 404 }, deleted],
    ['406', { status: 406 }, kept],
    ['410', { status: 410 }, deleted],
    ['413', { status: 413 }, kept],
    ['429 for an hour, in seconds', { status: 429, headers: { 'retry-after': '3600' } }, kept],
    ['429 for an hour, by date', { status: 429, headers: { 'retry-after': inAnHour } }, kept],
    ['500', { status: 500 }, kept],
    ['502', { status: 502 }, kept],
    ['503 for "soon"', { status: 503, headers: { 'retry-after': 'soon' } }, kept],
    ['201, dropped', { status: 201, headers: { 'x-wns-status': 'dropped' } }, kept],
    ['201, throttled', { status: 201, headers: { 'x-wns-status': 'channelthrottled' } }, kept],
  ];

  test.each(answers)('of %s', async (_, behaviour, expected) => {
    const faulty = await service.subscribe(project);
    faulty.behave(behaviour);
    expect(await sendBeside()).toEqual(expected);
  });

  test.each([301, 302, 303, 307, 308])('of %i is not followed', async (status) => {
    const elsewhere = await service.subscribe(await service.createProject());
    const faulty = await service.subscribe(project);
    faulty.behave({ status, headers: { location: elsewhere.endpoint } });
    expect(await sendBeside()).toEqual(kept);
    expect(elsewhere.messages).toEqual([]);
  });

  test('of 10 MB is cut off, and its status counts', async () => {
    const faulty = await service.subscribe(project);
    faulty.behave({ status: 410, body: 'x'.repeat(10_000_000) });
    expect(await sendBeside()).toEqual(deleted);
  });

  test('that comes with the second attempt, after the time it asked for, is delivered', async () => {
    const throttled = await service.subscribe(project);
    throttled.behave({ status: 429, headers: { 'retry-after': '1' }, times: 1 });
    const { body } = await service.send(project, { title: 'T' });
    expect(body).toMatchObject({ attempted: 1, delivered: 1, failed: 0 });
    expect(throttled.messages).toHaveLength(1);
  });
});

describe('a push service at fault costs its own subscribers alone', () => {
  test('that refuses connections costs its subscribers, not the others', async () => {
    await store('http://127.0.0.1:1/push/refused');
    expect(await sendBeside()).toEqual(kept);
  });

  test('whose name does not resolve likewise', async () => {
    await store('https://no-such-host-of-carillon.notify.windows.com/w/?token=x');
    expect(await sendBeside()).toEqual(kept);
  });

  test.each([
    ['closes without a word', (socket) => socket.end()],
    ['resets the connection', (socket) => socket.resetAndDestroy()],
    ['speaks no HTTP', (socket) => socket.end('SSH-2.0-none\r\n\r\n')],
    ['breaks off in its head', (socket) => socket.end('HTTP/1.1 201 Cre')],
  ] as [string, typeof respond][])('that %s likewise', async (_, misbehaviour) => {
    respond = misbehaviour;
    await store(`${originOf(misbehaving)}/push/x`);
    expect(await sendBeside()).toEqual(kept);
  });

  test('that sends a head without end likewise, and is cut off', async () => {
    let sent = 0;
    respond = (socket) => {
      endless(socket);
      socket.on('close', () => {
        sent += socket.bytesWritten;
      });
    };
    await store(`${originOf(misbehaving)}/push/x`);
    expect(await sendBeside()).toEqual(kept);
    // Three attempts, and what the system's buffers take of each.
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(50_000_000);
  });

  test('that breaks off in its body has said all with its status', async () => {
    respond = (socket) => socket.end('HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\nhalf');
    await store(`${originOf(misbehaving)}/push/x`);
    const { body } = await service.send(project, { title: 'T' });
    expect(body).toMatchObject({ attempted: 1, delivered: 1 });
  });
});

/** Sends headers for as long as someone reads them. */
function endless(socket: Socket): void {
  socket.write('HTTP/1.1 201 Created\r\n');
  const more = () => {
    while (!socket.destroyed && socket.write(`X-More: ${'x'.repeat(1000)}\r\n`));
  };
  socket.on('drain', more);
  more();
}

describe('a send whose function is killed notifies nobody twice', () => {
  test('keeps its unit, answers its caller 500, and a repetition never notifies twice', async () => {
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
    slow.behave({});
    const anew = await service.send(project, { title: 'U' });
    expect(anew.body).toMatchObject({ attempted: 2, delivered: 2 });
    expect(fast.messages).toHaveLength(2);
  });
});
