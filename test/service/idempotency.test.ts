import { routes } from '../../contract/routes.ts';
import { HeldSends } from '../fixtures/held-sends.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';

let service: Service;
const sends = new HeldSends();

beforeAll(async () => {
  service = await startService({ onDynamoDbCall: sends.onDynamoDbCall });
});
afterAll(() => service.stop());

function send({ projectId, secretKey }: ProjectCredentials, key: string, body: object) {
  const headers = { authorization: `Bearer ${secretKey}`, 'idempotency-key': key };
  return service.call(routes.send, { parameters: { projectId }, headers, body });
}

test('a repeated send returns the first response and sends nothing', async () => {
  const project = await service.createProject();
  const browser = await service.subscribe(project);
  const first = await send(project, 'order-1', { title: 'T' });
  const second = await send(project, 'order-1', { title: 'T' });
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body).toEqual(first.body);
  expect(browser.messages).toHaveLength(1);
  expect(await service.usage(project.projectId)).toMatchObject({ sends: 1 });
});

test('a key with a different body is refused', async () => {
  const project = await service.createProject();
  await send(project, 'order-1', { title: 'T' });
  const { status, body } = await send(project, 'order-1', { title: 'U' });
  expect({ status, code: body.error.code }).toEqual({
    status: 422,
    code: 'idempotency_key_reused',
  });
});

test('a repeated send is refused with Retry-After while the first is in progress', async () => {
  const project = await service.createProject();
  const browser = await service.subscribe(project);
  const release = sends.hold();
  const first = send(project, 'order-1', { title: 'T' });
  await browser.nextMessage();
  const { status, headers, body } = await send(project, 'order-1', { title: 'T' });
  expect({ status, code: body.error.code }).toEqual({ status: 409, code: 'request_in_progress' });
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  release();
  expect((await first).status).toBe(201);
});

test.each(['', 'two words', 'ü', 'x'.repeat(256)])('the key "%s" is refused', async (key) => {
  const project = await service.createProject();
  const { status, body } = await send(project, key, { title: 'T' });
  expect(status).toBe(400);
  expect(body.error.issues).toEqual([
    {
      path: 'Idempotency-Key',
      message: 'must be 1 to 255 printable ASCII characters without spaces',
    },
  ]);
});
