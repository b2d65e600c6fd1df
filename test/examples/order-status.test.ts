import { type Examples, prepareExamples } from '../fixtures/examples.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';

let service: Service;
let project: ProjectCredentials;
let examples: Examples;

beforeAll(async () => {
  service = await startService();
  project = await service.createProject();
  examples = await prepareExamples(service.stack, project);
}, 120_000);
afterAll(async () => {
  examples?.remove();
  await service?.stop();
});

test('each status of an order is sent once, to the browsers of its customer', async () => {
  const [phone, laptop] = [
    await service.subscribe(project, 'ada'),
    await service.subscribe(project, 'ada'),
  ];
  const other = await service.subscribe(project, 'grace');
  const run = (...args: string[]) => examples.run('order-status', args);

  expect(await run('ada', '4711', 'paid')).toBe('Delivered to 2 of 2 browsers of ada.\n');
  expect(await run('ada', '4711', 'paid')).toBe('Delivered to 2 of 2 browsers of ada.\n');
  expect(await run('ada', '4711', 'shipped')).toBe('Delivered to 2 of 2 browsers of ada.\n');
  expect(await run('nobody', '4711', 'paid')).toBe('nobody has no subscribed browser.\n');
  await expect(run('ada', '4711', 'lost')).rejects.toThrow('Usage: npm start');

  for (const { messages } of [phone, laptop]) {
    const received = messages.map(({ text, headers }) => ({
      notification: JSON.parse(text).notification,
      topic: headers.topic,
    }));
    expect(received.map(({ notification }) => notification.title)).toEqual([
      'Order 4711: paid',
      'Order 4711: shipped',
    ]);
    const [paid, shipped] = received;
    expect(paid).toMatchObject({ topic: expect.any(String), notification: { tag: 'order-4711' } });
    expect(shipped!.topic).toBe(paid!.topic);
  }
  expect(other.messages).toEqual([]);
}, 120_000);
