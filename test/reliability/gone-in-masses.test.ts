import { createBrowserKeys } from '../../admin/browser.ts';
import type { SubscriptionItem } from '../../lambdas/store/items.ts';
import { readTable } from '../fixtures/read-table.ts';
import { useService } from '../fixtures/service.ts';
import { storeSubscribers } from '../fixtures/stored-subscribers.ts';

const subscribers = 2000;
/** The log line with which the send ends. A function has 15 minutes, however slow this machine is. */
let onEnd: (line: string) => void;
const ended = new Promise<string>((resolve) => {
  onEnd = resolve;
});
const service = useService({
  onLog: ({ text }) => {
    if (text.includes('"message":"delivery"')) onEnd(text);
  },
});

// More marks at once than the database client has connections would wait for one until they fail.
test('every subscription that a send counts as gone_unconfirmed is marked', async () => {
  const project = await service.createProject();
  const { applicationServerKey } = project;
  const { pushService, dynamodb } = service.stack;
  const keys = createBrowserKeys();
  const browsers = Array.from({ length: subscribers }, () => {
    const browser = pushService.subscribe({ applicationServerKey, keys });
    browser.behave({ status: 410 });
    return browser;
  });
  await storeSubscribers(service.dynamo, dynamodb.tables, project, browsers);

  await service.send(project, { title: 'T' }, { prefer: 'respond-async' });

  expect(JSON.parse(await ended)).toMatchObject({
    failures: { gone_unconfirmed: subscribers },
  });
  const items = await readTable(service.dynamo, dynamodb.tables.SUBSCRIPTIONS_TABLE);
  const marked = (items as unknown as SubscriptionItem[]).filter(
    ({ goneSince }) => goneSince !== undefined,
  );
  expect(marked).toHaveLength(subscribers);
});
