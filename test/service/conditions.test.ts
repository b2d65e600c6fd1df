import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { routes } from '../../contract/routes.ts';
import type { NotificationResult } from '../../contract/schemas/notification.ts';
import type { SubscriptionItem } from '../../lambdas/store/items.ts';
import { endpointHash, subscriptionKey } from '../../lambdas/store/subscription-keys.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { readTable } from '../fixtures/read-table.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';

let service: Service;
let project: ProjectCredentials;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  project = await service.createProject();
});
afterAll(() => service.stop());

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const tableName = () => service.stack.dynamodb.tables.SUBSCRIPTIONS_TABLE;

/** Makes the browser's last subscribe request this many milliseconds older. */
async function age({ endpoint }: SimulatedBrowser, ms: number) {
  await service.dynamo.send(
    new UpdateCommand({
      TableName: tableName(),
      Key: subscriptionKey(project.ref, endpointHash(endpoint)),
      UpdateExpression: 'SET updatedAt = updatedAt - :ms',
      ExpressionAttributeValues: { ':ms': ms },
    }),
  );
}

async function audienceOf(notificationId: string) {
  const { body } = await service.call<NotificationResult>(routes.getNotification, {
    parameters: { projectId: project.projectId, notificationId },
    headers: { authorization: `Bearer ${project.secretKey}` },
  });
  return body.audience;
}

const received = (browsers: readonly SimulatedBrowser[]) =>
  browsers.map(({ messages }) => messages.length);

test('a send to channels reaches only the browsers that have any of them, each once', async () => {
  const browsers = [
    await service.subscribe(project, undefined, ['news']),
    await service.subscribe(project, 'ada', ['news', 'sales']),
    await service.subscribe(project, 'bob', ['sales', 'sales']),
    await service.subscribe(project, 'ada', ['other']),
    await service.subscribe(project, 'ada'),
  ];
  const toChannels = { title: 'T', channels: ['sales', 'news', 'sales'] };
  const { body } = await service.send(project, toChannels);
  expect(body).toEqual({ id: body.id, attempted: 3, delivered: 3, removed: 0, failed: 0 });
  expect(received(browsers)).toEqual([1, 1, 1, 0, 0]);
  expect(await audienceOf(body.id)).toEqual({ channels: ['sales', 'news'] });

  const targeted = await service.send(project, { ...toChannels, userIds: ['ada', 'eve'] });
  expect(targeted.body).toMatchObject({ attempted: 1, delivered: 1 });
  expect(received(browsers)).toEqual([1, 2, 1, 0, 0]);
  expect(await audienceOf(targeted.body.id)).toEqual({ users: 2, channels: ['sales', 'news'] });

  const recipients = [{ userId: 'ada' }, { userId: 'bob' }];
  const personal = await service.send(project, { ...toChannels, recipients });
  expect(personal.body).toMatchObject({ attempted: 2, delivered: 2 });
  expect(received(browsers)).toEqual([1, 3, 2, 0, 0]);
});

test('a send to those seen within days leaves out whose last subscribe request is older, plus a day', async () => {
  const browsers = [
    await service.subscribe(project),
    await service.subscribe(project, 'ada'),
    await service.subscribe(project, 'ada'),
    await service.subscribe(project, 'ada', ['news']),
  ];
  const [, recent, old, oldWithChannel] = browsers;
  await age(recent!, 8 * dayMs - minuteMs);
  await age(old!, 8 * dayMs);
  await age(oldWithChannel!, 400 * dayMs);
  const { body } = await service.send(project, { title: 'T', seenWithinDays: 7 });
  expect(body).toEqual({ id: body.id, attempted: 2, delivered: 2, removed: 0, failed: 0 });
  expect(received(browsers)).toEqual([1, 1, 0, 0]);
  expect(await audienceOf(body.id)).toEqual({ seenWithinDays: 7 });

  const both = { title: 'T', seenWithinDays: 365, channels: ['news'] };
  expect((await service.send(project, both)).body).toMatchObject({ attempted: 0 });
  const targeted = await service.send(project, { ...both, seenWithinDays: 7, userIds: ['ada'] });
  expect(targeted.body).toMatchObject({ attempted: 0 });
  expect(await audienceOf(targeted.body.id)).toEqual({
    users: 1,
    channels: ['news'],
    seenWithinDays: 7,
  });
});

test('a subscribe request makes a browser seen again, and states all of its channels', async () => {
  const browser = await service.subscribe(project, undefined, ['news', 'sales']);
  await age(browser, 400 * dayMs);
  const attempted = async (conditions: object) =>
    (await service.send(project, { title: 'T', ...conditions })).body.attempted;
  expect(await attempted({ seenWithinDays: 365 })).toBe(0);
  const subscribe = (channels: unknown) =>
    service.call(routes.subscribe, {
      parameters: { projectId: project.projectId },
      body: { ...browser.toJSON(), channels },
    });
  expect(await subscribe(null)).toMatchObject({ status: 400 });
  expect(await attempted({ seenWithinDays: 365 })).toBe(0);
  expect(await attempted({ channels: ['news'] })).toBe(1);
  expect(await subscribe(['sales'])).toMatchObject({ status: 201 });
  expect(await attempted({ seenWithinDays: 1 })).toBe(1);
  expect(await attempted({ channels: ['news'] })).toBe(0);
  await subscribe(undefined);
  expect(await attempted({ channels: ['sales'] })).toBe(0);
  const stored = await readTable(service.dynamo, tableName());
  const own = (stored as unknown as SubscriptionItem[]).filter(({ projectPart }) =>
    projectPart.startsWith(`${project.ref}#`),
  );
  expect(own).toEqual([expect.not.objectContaining({ channels: expect.anything() })]);
});
