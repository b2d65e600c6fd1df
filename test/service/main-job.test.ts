import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { routes } from '../../contract/wire/routes.ts';
import { eventCounterId, sliceId } from '../../lambdas/store/items.ts';
import { HeldSends } from '../fixtures/held-sends.ts';
import { useService } from '../fixtures/service.ts';

const sends = new HeldSends();

const service = useService({ onDynamoDbCall: sends.onDynamoDbCall });

/** Reads a slice or an event counter. */
async function readDelivery(id: string) {
  const { Item } = await service.dynamo.send(
    new GetCommand({
      TableName: service.stack.dynamodb.tables.DELIVERIES_TABLE,
      Key: { id },
    }),
  );
  return Item;
}

test('a broadcast reaches each browser and returns counts', async () => {
  const project = await service.createProject();
  const browsers = [await service.subscribe(project), await service.subscribe(project, 'ada')];
  const content = {
    title: 'Doors open at eight',
    body: 'Your seat is 14C — bring “it”.',
    url: 'https://example.com/tickets',
    icon: 'https://example.com/icon.png',
    image: 'https://example.com/image.png',
    badge: 'https://example.com/badge.png',
  };
  const { status, body } = await service.send(project, content);
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    ...{ attempted: 2, delivered: 2, removed: 0, failed: 0 },
  });
  const { url, ...shown } = content;
  const events = `${service.stack.baseUrl}/api/v1/projects/${project.projectId}/notifications/${body.id}/events`;
  for (const browser of browsers) {
    const [message] = browser.messages;
    expect(browser.messages).toHaveLength(1);
    expect(JSON.parse(message!.text)).toEqual({
      web_push: 8030,
      notification: {
        ...shown,
        navigate: url,
        data: { carillon: 1, id: body.id, events },
        mutable: true,
      },
      mutable: true,
    });
    expect(message!.headers).toMatchObject({ ttl: '2419200', 'content-encoding': 'aes128gcm' });
  }
});

test('a targeted send reaches only the browsers of its user ids', async () => {
  const project = await service.createProject();
  const ada = await service.subscribe(project, 'ada');
  const adasPhone = await service.subscribe(project, 'ada');
  const bob = await service.subscribe(project, 'bob');
  const withoutUser = await service.subscribe(project);
  const { body } = await service.send(project, { title: 'T', userIds: ['ada', 'ada', 'eve'] });
  expect(body).toMatchObject({ attempted: 2, delivered: 2 });
  const received = [ada, adasPhone, bob, withoutUser].map(({ messages }) => messages.length);
  expect(received).toEqual([1, 1, 0, 0]);
});

test('a gone subscription is removed and not attempted again', async () => {
  const project = await service.createProject();
  await service.subscribe(project);
  const gone = await service.subscribe(project);
  gone.unsubscribe();
  const first = await service.send(project, { title: 'T' });
  expect(first.body).toMatchObject({ attempted: 2, delivered: 1, removed: 1, failed: 0 });
  expect(await service.usage(project.projectId)).toMatchObject({ subscribers: 1, sends: 1 });
  const second = await service.send(project, { title: 'T' });
  expect(second.body).toMatchObject({ attempted: 1, delivered: 1, removed: 0, failed: 0 });
});

test('a refused push counts as failed, and its subscription stays', async () => {
  const project = await service.createProject();
  const refused = await service.subscribe(project);
  refused.behave({ status: 403 });
  const { body } = await service.send(project, { title: 'T' });
  expect(body).toMatchObject({ attempted: 1, delivered: 0, removed: 0, failed: 1 });
  expect(await service.usage(project.projectId)).toMatchObject({ subscribers: 1 });
});

test('beacons are counted in an event counter of their notification', async () => {
  const project = await service.createProject();
  const browsers = [await service.subscribe(project), await service.subscribe(project)];
  const { body } = await service.send(project, { title: 'T' });
  for (const browser of browsers) expect((await browser.show()).status).toBe(200);
  expect(await (await browsers[0]!.click()).json()).toEqual({ ok: true });
  expect(await readDelivery(eventCounterId(body.id, 0))).toMatchObject({
    projectRef: project.ref,
    shown: 2,
    clicked: 1,
  });
  expect(await readDelivery(sliceId(body.id, 0))).toMatchObject({
    ...{ attempted: 2, delivered: 2, removed: 0, failed: 0, ended: 'delivered' },
  });
});

test('a beacon is counted before the send has ended', async () => {
  const project = await service.createProject();
  const browser = await service.subscribe(project);
  const release = sends.hold();
  let hasEnded = false;
  const sending = service.send(project, { title: 'T' }).finally(() => {
    hasEnded = true;
  });
  await browser.nextMessage();
  expect((await browser.show()).status).toBe(200);
  expect(hasEnded).toBe(false);
  release();
  const { body } = await sending;
  expect(await readDelivery(eventCounterId(body.id, 0))).toMatchObject({ shown: 1 });
  expect(await readDelivery(sliceId(body.id, 0))).toMatchObject({ delivered: 1 });
});

test('an unsubscribe removes the subscription, and a repeated one returns the same', async () => {
  const project = await service.createProject();
  const browser = await service.subscribe(project);
  const query = `?endpoint=${encodeURIComponent(browser.endpoint)}`;
  for (const _ of ['first', 'repeated']) {
    const { status, body } = await service.call(routes.unsubscribe, {
      parameters: { ...project },
      query,
    });
    expect({ status, body }).toEqual({ status: 200, body: { ok: true } });
  }
  expect(await service.usage(project.projectId)).toMatchObject({ subscribers: 0 });
  const { body } = await service.send(project, { title: 'T' });
  expect(body).toMatchObject({ attempted: 0, delivered: 0, removed: 0, failed: 0 });
});
