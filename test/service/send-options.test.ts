import { pushMessage } from '../../contract/wire/message.ts';
import type { NotificationResult } from '../../contract/wire/notification.ts';
import { sampleContent } from '../../contract/wire/send-fields.ts';
import { type ProjectCredentials, useService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

let project: ProjectCredentials;

const service = useService();
beforeEach(async () => {
  project = await service.createProject();
});

const deep = JSON.parse(`${'['.repeat(40)}1e300${']'.repeat(40)}`);
const content = { ...sampleContent, data: { match: 7, score: [2, 1], deep } };

function read(notificationId: string) {
  const parameters = { notificationId };
  return callWithValidRequest<NotificationResult>(service, project, 'getNotification', {
    parameters,
  });
}

test.each([
  ['synchronously', {}, 201],
  ['asynchronously', { prefer: 'respond-async' }, 202],
])('each option reaches the push service and the browser, sent %s', async (_, headers, status) => {
  const browser = await service.subscribe(project);
  const sent = await service.send(project, content, headers);
  expect(sent.status).toBe(status);
  const { headers: pushed, text } = await browser.nextMessage();
  expect(pushed).toMatchObject({ ttl: '3600', urgency: 'high' });
  expect(pushed.topic).toMatch(/^[\w-]{32}$/);
  const { id } = sent.body;
  const events = `${service.stack.baseUrl}/api/v1/projects/${project.projectId}/notifications/${id}/events`;
  const expected = pushMessage(id, content, events);
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(expected)));
});

test('a notification is read as it was sent', async () => {
  const { body } = await service.send(project, content);
  expect((await read(body.id)).body).toMatchObject(content);
});

test('the failures are in the response by reason, also in that of a repeated request', async () => {
  const [refused, throttled] = [await service.subscribe(project), await service.subscribe(project)];
  await service.subscribe(project);
  refused.behave({ status: 403 });
  throttled.behave({ status: 429, headers: { 'retry-after': '60' } });
  const expected = {
    ...{ attempted: 3, delivered: 1, removed: 0, failed: 2 },
    failures: { vapid_refused: 1, throttled: 1 },
  };
  const idempotent = { 'idempotency-key': 'one' };
  const first = await service.send(project, { title: 'T' }, idempotent);
  expect(first.body).toEqual({ id: first.body.id, ...expected });
  const repeated = await service.send(project, { title: 'T' }, idempotent);
  expect(repeated.body).toEqual(first.body);
  expect((await read(first.body.id)).body).toMatchObject(expected);
});

test.each([
  [{}, 201],
  [{ prefer: 'respond-async' }, 202],
])(
  'the size of a message that not every browser receives is in the response, with %j',
  async (headers, status) => {
    const browser = await service.subscribe(project);
    const small = await service.send(project, { title: 'T', body: 'x'.repeat(2000) }, headers);
    expect(small.body).not.toHaveProperty('messageBytes');
    await browser.nextMessage();
    const large = { title: 'T', body: 'x'.repeat(2000), data: { a: 'x'.repeat(800) } };
    const idempotent = { ...headers, 'idempotency-key': `size-${status}` };
    const sent = await service.send(project, large, idempotent);
    expect(sent.status).toBe(status);
    const { text } = await browser.nextMessage();
    expect(sent.body).toHaveProperty('messageBytes', Buffer.byteLength(text));
    expect(Buffer.byteLength(text)).toBeGreaterThan(2820);
    const repeated = await service.send(project, large, idempotent);
    expect(repeated.body).toHaveProperty('messageBytes', Buffer.byteLength(text));
  },
);

test.each([
  ['data over its limit', { data: { a: 'x'.repeat(2048) } }, 400, 'invalid_request'],
  [
    'a message that data makes too large',
    { body: 'x'.repeat(2000), data: { a: 'x'.repeat(2000) } },
    413,
    'payload_too_large',
  ],
  ['renotify without a tag', { renotify: true }, 400, 'invalid_request'],
])('%s is refused and nothing is sent', async (_, fields, status, code) => {
  const browser = await service.subscribe(project);
  const sent = await service.send(project, { title: 'T', ...fields });
  expect(sent).toMatchObject({ status, body: { error: { code } } });
  expect(browser.messages).toEqual([]);
  expect(await service.usage(project.projectId)).toMatchObject({ sends: 0 });
});
