import { databaseCalls } from '../../bench/costs/database-calls.ts';
import { routes } from '../../contract/routes.ts';
import type { NotificationResult } from '../../contract/schemas/notification.ts';
import { type Service, startService } from '../fixtures/service.ts';

const events = 1000;

let service: Service;
const operations: string[] = [];

beforeAll(async () => {
  service = await startService({
    onDynamoDbCall: ({ operation }) => {
      operations.push(operation);
      return undefined;
    },
  });
});
afterAll(() => service.stop());

test('concurrent events of a notification are all counted, by plain writes that cannot conflict', async () => {
  const project = await service.createProject();
  const { body } = await service.send(project, { title: 'T' });
  const parameters = { ...project, notificationId: body.id };
  const report = () => service.call(routes.track, { parameters, body: { type: 'shown' } });
  // Each function reads the project once.
  await report();
  operations.length = 0;
  const responses = await Promise.all(Array.from({ length: events }, report));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));

  const reads = operations.filter((operation) => operation === 'GetItem').length;
  const writes = operations.filter((operation) => operation === 'UpdateItem').length;
  // A conflict would be repeated: more writes.
  expect(writes).toBe(events * databaseCalls.event.length);
  expect(operations).toHaveLength(reads + writes);

  const headers = { authorization: `Bearer ${project.secretKey}` };
  const read = await service.call<NotificationResult>(routes.getNotification, {
    parameters,
    headers,
  });
  expect(read.body).toMatchObject({ shown: events + 1, clicked: 0 });
});
