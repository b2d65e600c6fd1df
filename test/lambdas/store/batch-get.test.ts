import type {
  BatchGetCommand,
  BatchGetCommandInput,
  DynamoDBDocumentClient,
} from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../../lambdas/store/dynamo.ts';

/** A client that processes one key of each call. */
function slowClient() {
  const requests: BatchGetCommandInput[] = [];
  const client = {
    send: async ({ input }: BatchGetCommand) => {
      requests.push(input);
      const [read, ...left] = input.RequestItems!.Items!.Keys!;
      return {
        Responses: { Items: [read] },
        UnprocessedKeys: left.length === 0 ? {} : { Items: { Keys: left } },
      };
    },
  };
  return { client: client as unknown as DynamoDBDocumentClient, requests };
}

const keys = Array.from({ length: 9 }, (_, id) => ({ id }));

test('keys that DynamoDB leaves out are read again, ever more slowly, and all of them consistently', async () => {
  const { client, requests } = slowClient();
  const waits: number[] = [];
  const found = await batchGet(client, 'Items', keys, undefined, async (ms) => waits.push(ms));
  expect(found).toEqual(keys);
  expect(waits).toEqual([50, 100, 200, 400, 800, 1000, 1000, 1000]);
  expect(requests.map(({ RequestItems }) => RequestItems!.Items!.ConsistentRead)).toEqual(
    keys.map(() => true),
  );
});

test('the wait ends with its signal, as a database that is busy', async () => {
  const { client, requests } = slowClient();
  const caller = new AbortController();
  const reading = batchGet(client, 'Items', keys, caller.signal, async (_, signal) => {
    caller.abort();
    signal!.throwIfAborted();
  });
  await expect(reading).rejects.toMatchObject({ code: 'unavailable' });
  expect(requests).toHaveLength(1);
});
