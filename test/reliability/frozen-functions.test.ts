import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Invocation } from 'aws-emulator/executions';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { everyRoute } from '../fixtures/route-names.ts';
import { type ApiResponse, type ProjectCredentials, useService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

/** Longer than any client uses an idle connection again. */
const pauseMs = 10 * 60_000;
/** So many that sends divide them among four functions. */
const countedSubscribers = 100_000;
const functionsOfBroadcast = 4;
const leaving = 40;
const staying = 40;

let project: ProjectCredentials;
let invocations: Invocation[];

const service = useService({ onInvocation: (invocation) => invocations.push(invocation) });
beforeEach(async () => {
  invocations = [];
  project = await service.createProject({ subscriberCap: null });
});

const subscribe = (count: number): Promise<SimulatedBrowser[]> =>
  Promise.all(Array.from({ length: count }, () => service.subscribe(project)));

/** Adds to a part of the counter, because subscribing as many browsers would take minutes. */
async function countManySubscribers(): Promise<void> {
  await service.dynamo.send(
    new UpdateCommand({
      TableName: service.stack.dynamodb.tables.USAGE_TABLE,
      Key: { projectRef: project.ref, period: 'subscribers#0' },
      UpdateExpression: 'ADD used :many',
      ExpressionAttributeValues: { ':many': countedSubscribers },
    }),
  );
}

/** Calls every route but send. @returns the responses that are not successes. */
async function failuresOfOtherRoutes(notificationId: string) {
  const browser = await service.subscribe(project, 'ada');
  const responses: ApiResponse[] = [];
  for (const name of everyRoute.filter((route) => route !== 'send')) {
    const parameters = { notificationId };
    responses.push(await callWithValidRequest(service, project, name, { parameters }, browser));
  }
  return responses.filter(({ status }) => status >= 300);
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
      expect(await failuresOfOtherRoutes(first.body.id)).toEqual([]);
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
      expect(await failuresOfOtherRoutes(second.body.id)).toEqual([]);
    },
  );
});
