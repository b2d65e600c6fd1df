import { createBrowserKeys } from '../../admin/browser.ts';
import type { SubscriptionItem } from '../../lambdas/store/items.ts';
import { readTable } from '../fixtures/read-table.ts';
import { useService } from '../fixtures/service.ts';
import { storeSubscribers } from '../fixtures/stored-subscribers.ts';

const subscribers = 3000;
const service = useService();

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

  const { body } = await service.send(project, { title: 'T' });

  expect(body).toMatchObject({ failures: { gone_unconfirmed: subscribers } });
  const items = await readTable(service.dynamo, dynamodb.tables.SUBSCRIPTIONS_TABLE);
  const marked = (items as unknown as SubscriptionItem[]).filter(
    ({ goneSince }) => goneSince !== undefined,
  );
  expect(marked).toHaveLength(subscribers);
});
