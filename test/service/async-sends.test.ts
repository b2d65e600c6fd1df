import { randomUUID } from 'node:crypto';
import { routes } from '../../contract/routes.ts';
import {
  acceptedSendSchema,
  type NotificationResult,
} from '../../contract/schemas/notification.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

let service: Service;
let project: ProjectCredentials;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  project = await service.createProject({ subscriberCap: null });
});
afterAll(() => service.stop());

function send(body: object, headers: Record<string, string> = {}) {
  const { projectId, secretKey } = project;
  return service.call<unknown>(routes.send, {
    parameters: { projectId },
    headers: { authorization: `Bearer ${secretKey}`, prefer: 'respond-async', ...headers },
    body,
  });
}

function read(notificationId: string, owner = project) {
  return service.call<NotificationResult>(routes.getNotification, {
    parameters: { projectId: owner.projectId, notificationId },
    headers: { authorization: `Bearer ${owner.secretKey}` },
  });
}

async function readDelivered(id: string): Promise<NotificationResult> {
  return until('the notification is delivered', async () => {
    const { body } = await read(id);
    return body.status === 'sending' ? undefined : body;
  });
}

test('a caller that does not wait gets the id, and reads the counts later', async () => {
  const browsers = await Promise.all([1, 2, 3].map(() => service.subscribe(project)));
  browsers[0]!.unsubscribe();
  browsers[1]!.behave({ status: 403 });
  const { status, headers, body } = await send({ title: 'Doors open', body: 'At eight.' });
  const { id } = acceptedSendSchema.parse(body);
  expect(status).toBe(202);
  expect(body).toEqual({ id, status: 'sending' });
  expect(headers.get('preference-applied')).toBe('respond-async');
  const path = `/api/v1/projects/${project.projectId}/notifications/${id}`;
  expect(headers.get('location')).toBe(service.stack.baseUrl + path);
  const delivered = await readDelivered(id);
  expect(delivered).toEqual({
    id,
    title: 'Doors open',
    body: 'At eight.',
    audience: 'everyone',
    status: 'sent',
    sentAt: expect.stringMatching(/^20\d\d-.*Z$/),
    attempted: 3,
    delivered: 1,
    removed: 1,
    failed: 1,
    failures: { vapid_refused: 1 },
    shown: 0,
    clicked: 0,
  });
  expect(browsers[2]!.messages).toHaveLength(1);
});

test('user ids are divided among functions, and each browser gets one message', async () => {
  const userIds = Array.from({ length: 300 }, (_, index) => `u${index}`);
  const browsers = await Promise.all(
    userIds.slice(0, 15).map((_, index) => service.subscribe(project, `u${index * 20}`)),
  );
  const { body } = await send({ title: 'T', userIds });
  const { id } = acceptedSendSchema.parse(body);
  expect(await readDelivered(id)).toMatchObject({
    audience: { users: 300 },
    attempted: 15,
    delivered: 15,
  });
  for (const browser of browsers) expect(browser.messages).toHaveLength(1);
});

test('a repeated request is answered in the form of the first one, and sends nothing', async () => {
  const browser = await service.subscribe(project);
  const key = { 'idempotency-key': 'order-1' };
  const { id } = acceptedSendSchema.parse((await send({ title: 'T' }, key)).body);
  await readDelivered(id);
  const repeated = await send({ title: 'T' }, { ...key, prefer: 'wait=10' });
  expect(repeated).toMatchObject({ status: 202, body: { id, status: 'sent' } });
  const synchronous = { ...key, 'idempotency-key': 'order-2', prefer: '' };
  const first = await send({ title: 'T' }, synchronous);
  const second = await send({ title: 'T' }, { ...synchronous, prefer: 'respond-async' });
  expect(first.status).toBe(201);
  expect(second).toMatchObject({ status: 201, body: first.body });
  expect(browser.messages).toHaveLength(2);
});

describe('a notification', () => {
  test.each([
    ['an unknown id', () => randomUUID()],
    ['an invalid id', () => 'none'],
  ])('with %s is not found', async (_, id) => {
    const { status, body } = await read(id());
    expect({ status, body }).toMatchObject({
      status: 404,
      body: { error: { code: 'notification_not_found' } },
    });
  });

  test('of another project is not found', async () => {
    const { body } = await service.send(project, { title: 'T' });
    const other = await service.createProject();
    expect((await read(body.id, other)).status).toBe(404);
  });
});
