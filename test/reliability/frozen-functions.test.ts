import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type RouteName, routes } from '../../contract/routes.ts';
import type { Invocation } from '../../local/lambda/invocation.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import {
  type CallOptions,
  type ProjectCredentials,
  type Service,
  startService,
} from '../fixtures/service.ts';

/** Longer than any client uses an idle connection again. */
const pauseMs = 10 * 60_000;
/** So many that sends divide them among four functions. */
const countedSubscribers = 100_000;
const functionsOfBroadcast = 4;
const leaving = 40;
const staying = 40;

let service: Service;
let project: ProjectCredentials;
let invocations: Invocation[];

beforeAll(async () => {
  service = await startService({ onInvocation: (invocation) => invocations.push(invocation) });
});
afterAll(() => service.stop());
beforeEach(async () => {
  invocations = [];
  project = await service.createProject({ subscriberCap: null });
});

const subscribe = (count: number): Promise<SimulatedBrowser[]> =>
  Promise.all(Array.from({ length: count }, () => service.subscribe(project)));

/** Adds to a part of the counter, since it would take minutes to subscribe so many. */
async function countManySubscribers(): Promise<void> {
  await service.dynamo.send(
    new UpdateCommand({
      TableName: service.stack.dynamodb.tables.USAGE_TABLE,
      Key: { projectId: project.projectId, period: 'subscribers#0' },
      UpdateExpression: 'ADD used :many',
      ExpressionAttributeValues: { ':many': countedSubscribers },
    }),
  );
}

/** Calls every route but send. @returns the statuses. */
async function callOtherRoutes(notified: SimulatedBrowser, notificationId: string) {
  const { projectId, secretKey } = project;
  const status = async (name: RouteName, options: Partial<CallOptions> = {}) => {
    const parameters = { projectId, notificationId };
    const headers = { authorization: `Bearer ${secretKey}` };
    return (await service.call(routes[name], { parameters, headers, ...options })).status;
  };
  const browser = await service.subscribe(project, 'ada');
  return {
    track: (await notified.show()).status,
    getProject: await status('getProject'),
    listNotifications: await status('listNotifications'),
    getNotification: await status('getNotification'),
    stopNotification: await status('stopNotification'),
    getUser: await status('getUser', { query: '?userId=ada' }),
    removeUser: await status('removeUser', { query: '?userId=ada' }),
    unsubscribe: await status('unsubscribe', {
      query: `?endpoint=${encodeURIComponent(browser.endpoint)}`,
    }),
  };
}

const deliveries = () =>
  invocations.filter((invocation) => invocation.function.startsWith('Deliver'));

describe('functions that were frozen return no error, and push to nobody twice', () => {
  test.each(['reset', 'silence'] as const)(
    'connections that were forgotten meanwhile: %s',
    async (then) => {
      const browsers = await subscribe(staying);
      const left = await subscribe(leaving);
      await countManySubscribers();
      // The removals of gone subscribers run at the same time, on a connection each.
      for (const browser of left) browser.unsubscribe();
      const first = await service.send(project, { title: 'T' });
      expect(first.body).toMatchObject({ delivered: staying, removed: leaving });
      await callOtherRoutes(browsers[0]!, first.body.id);
      expect(deliveries()).toHaveLength(functionsOfBroadcast - 1);

      invocations = [];
      const forgotten = service.stack.freeze(pauseMs, then);
      // More than one for each function.
      expect(forgotten.dynamodb).toBeGreaterThan(15);

      const second = await service.send(project, { title: 'T' });
      expect(second).toMatchObject({
        status: 201,
        body: { attempted: staying, delivered: staying, failed: 0 },
      });
      expect(browsers.filter(({ messages }) => messages.length !== 2)).toEqual([]);
      expect(deliveries()).toEqual(
        Array(functionsOfBroadcast - 1).fill(expect.objectContaining({ outcome: 'succeeded' })),
      );
      expect(await callOtherRoutes(browsers[0]!, second.body.id)).toEqual({
        ...{ track: 200, getProject: 200, listNotifications: 200, getNotification: 200 },
        ...{ stopNotification: 200, getUser: 200, removeUser: 200, unsubscribe: 200 },
      });
    },
  );
});
