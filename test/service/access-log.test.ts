import { type Route, routes } from '../../contract/routes.ts';
import { type Service, startService } from '../fixtures/service.ts';

let service: Service;
let lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  service = await startService({ onLog: ({ text }) => lines.push(JSON.parse(text)) });
});
beforeEach(() => {
  lines = [];
});
afterAll(() => service.stop());

const parameters = { projectId: 'shop', notificationId: 'x' };
const address = '198.51.100.9';

test.each<Route>(Object.values(routes))('a request to $name logs one line', async (route) => {
  const { status } = await service.call(route, { parameters, address });
  expect(lines).toEqual([
    expect.objectContaining({
      service: route.name,
      message: 'request',
      method: route.method,
      network: '198.51.100.0/24',
      status,
    }),
  ]);
});

test.each(Object.values<Route>(routes).filter(({ answersPreflight }) => answersPreflight))(
  'a preflight of $name logs one line',
  async (route) => {
    const preflight = { ...route, method: 'OPTIONS' } as unknown as Route;
    await service.call(preflight, { parameters, address });
    expect(lines).toEqual([
      expect.objectContaining({ message: 'request', method: 'OPTIONS', status: 204 }),
    ]);
  },
);

test('the address of the caller is not logged', async () => {
  for (const route of Object.values(routes)) await service.call(route, { parameters, address });
  expect(lines).toHaveLength(Object.keys(routes).length);
  expect(JSON.stringify(lines)).not.toContain(address);
});
