import { createBrowserKeys } from '../../admin/browser.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { readTable } from '../fixtures/read-table.ts';
import { type ProjectCredentials, useService } from '../fixtures/service.ts';
import { storeSubscribers } from '../fixtures/stored-subscribers.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

let project: ProjectCredentials;
const log: string[] = [];

// Its end throws if a function logged a value.
const service = useService({ onLog: ({ text }) => log.push(text) });
beforeEach(async () => {
  project = await service.createProject({ subscriberCap: null });
});

const keys = createBrowserKeys();

/** Stores a subscription for each user id without the API, which would take seconds for a thousand. */
async function subscribeAll(userIds: readonly string[]): Promise<SimulatedBrowser[]> {
  const { pushService, dynamodb } = service.stack;
  const { applicationServerKey } = project;
  const browsers = userIds.map(() => pushService.subscribe({ applicationServerKey, keys }));
  const subscribers = browsers.map((browser, index) => ({
    toJSON: () => browser.toJSON(),
    userId: userIds[index]!,
  }));
  await storeSubscribers(service.dynamo, dynamodb.tables, project, subscribers);
  return browsers;
}

const content = {
  title: 'Hello {{name}}',
  body: 'Order {{order}} of {{ name }} is on its way.',
  url: 'https://example.com/orders/{{order}}?for={{name}}',
};

const recipientsOf = (userIds: readonly string[]) =>
  userIds.map((userId, index) => ({
    userId,
    values: { name: `Name of ${userId} 💌`, order: `order/${index}`, unused: [index] },
  }));

function expectOwnText(browsers: readonly SimulatedBrowser[], userIds: readonly string[]): void {
  for (const [index, { messages }] of browsers.entries()) {
    const name = `Name of ${userIds[index]} 💌`;
    expect(messages).toHaveLength(1);
    expect(JSON.parse(messages[0]!.text).notification).toMatchObject({
      title: `Hello ${name}`,
      body: `Order order/${index} of ${name} is on its way.`,
      navigate: `https://example.com/orders/order%2F${index}?for=${encodeURIComponent(name)}`,
    });
  }
}

const userIds = Array.from({ length: 1000 }, (_, index) => `user-${index}`);

test('1,000 users get 1,000 different texts with one request', async () => {
  const browsers = await subscribeAll(userIds);
  const { status, body } = await service.send(project, {
    ...content,
    recipients: recipientsOf(userIds),
  });
  expect({ status, body }).toMatchObject({
    status: 201,
    body: { attempted: 1000, delivered: 1000 },
  });
  expectOwnText(browsers, userIds);
  expect(new Set(browsers.map(({ messages }) => messages[0]!.text)).size).toBe(1000);
  expect(await service.usage(project.projectId)).toMatchObject({ sends: 1 });
});

test('all devices of a user get its text, and nobody else does', async () => {
  const ids = ['ada', 'bob', 'ada', 'eve'];
  const [phone, bob, laptop, eve] = await subscribeAll(ids);
  const recipients = recipientsOf(['bob', 'ada', 'nobody']);
  await service.send(project, { ...content, recipients });
  expectOwnText([bob!, phone!], ['bob', 'ada']);
  expect(laptop!.messages).toHaveLength(1);
  expect(JSON.parse(laptop!.messages[0]!.text)).toEqual(JSON.parse(phone!.messages[0]!.text));
  expect(eve!.messages).toEqual([]);
});

test('a message that is too large for one recipient is refused for all, and names the entry', async () => {
  const [browser] = await subscribeAll(['ada']);
  const recipients = ['ada', 'bob', 'eve'].map((userId) => ({
    userId,
    values: { v: '💣'.repeat(userId === 'bob' ? 400 : 1) },
  }));
  const { status, body } = await callWithValidRequest(service, project, 'send', {
    body: { title: 'T', body: '{{v}}{{v}}{{v}}', recipients },
  });
  expect({ status, body }).toMatchObject({
    status: 413,
    body: { error: { code: 'payload_too_large' } },
  });
  expect(body.error.message).toMatch(
    /^The notification for recipients\[1\] is \d+ bytes too large for one push message/,
  );
  expect(browser!.messages).toEqual([]);
  expect(await service.usage(project.projectId)).toMatchObject({ sends: 0 });
});

test('an unused value may be nested as deeply as a body can be', async () => {
  const depth = 200_000;
  const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const body = `{"title":"T {{v}}","recipients":[{"userId":"ada","values":{"v":"x","other":${nested}}}]}`;
  const headers = { 'idempotency-key': 'a-deep-request' };
  const { status } = await callWithValidRequest(service, project, 'send', { headers, body });
  expect(status).toBe(201);
});

test('the template is stored, and values are neither stored nor logged', async () => {
  const value = 'a-secret-value-in-this-test';
  const userId = 'a-secret-user-id-in-this-test';
  await subscribeAll([userId]);
  const recipients = [{ userId, values: { v: value } }];
  const headers = { 'idempotency-key': 'with-values' };
  for (const prefer of ['', 'respond-async']) {
    await service.send(project, { title: '{{ v }}', recipients }, { ...headers, prefer });
  }
  const { SUBSCRIPTIONS_TABLE, ...tables } = service.stack.dynamodb.tables;
  for (const table of Object.values(tables)) {
    const text = JSON.stringify(await readTable(service.dynamo, table));
    expect(text).not.toContain(value);
    expect(text).not.toContain(userId);
  }
  const [stored] = (await readTable(service.dynamo, tables.NOTIFICATIONS_TABLE)).filter(
    (item) => item.projectRef === project.ref && item.content !== undefined,
  );
  expect(stored).toMatchObject({ content: { title: '{{ v }}' }, users: 1 });
  expect(log.join('')).not.toContain(value);
});
