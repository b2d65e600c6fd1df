import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { localConfig } from '../../admin/local-config.ts';
import { documentClient } from '../../lambdas/store/dynamo.ts';

/** Which items the parts of a counter are. */
export type Layout = 'one item' | 'parts';

/** Ms for which a transaction is prepared, and in which another one with the same item is refused. */
const preparedMs = { from: 6, to: 10 };
/** Ms until a plain write, or a refusal, has its response. */
const callMs = 3;

interface Entry {
  readonly TableName: string;
  readonly Key?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly Item?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

interface Request {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * A client of the functions with a stand-in for DynamoDB that refuses a transaction if one of its items is
 * in another transaction. The local engines never do. It stores nothing: every item is new, and no cap is
 * reached.
 * @param layout `one item`: all parts of a counter are the same item.
 */
export function conflictingDatabase(layout: Layout): DynamoDBDocumentClient {
  const prepared = new Set<string>();

  async function respond({ headers, body }: Request) {
    const operation = headers['x-amz-target']!.split('.')[1]!;
    if (operation !== 'TransactWriteItems') {
      await sleep(callMs);
      return failure('ConditionalCheckFailedException', {});
    }
    const { TransactItems } = JSON.parse(new TextDecoder().decode(body)) as {
      readonly TransactItems: readonly Readonly<Record<string, Entry>>[];
    };
    // An item that a transaction only checks conflicts too.
    const items = TransactItems.flatMap((entry) => Object.values(entry)).map(itemOf);
    if (items.some((item) => prepared.has(item))) {
      await sleep(callMs);
      return failure('TransactionCanceledException', {
        CancellationReasons: items.map((item) => ({
          Code: prepared.has(item) ? 'TransactionConflict' : 'None',
        })),
      });
    }
    for (const item of items) prepared.add(item);
    await sleep(preparedMs.from + Math.random() * (preparedMs.to - preparedMs.from));
    for (const item of items) prepared.delete(item);
    return response(200, {});
  }

  function itemOf({ TableName, Key, Item }: Entry): string {
    const { projectId, projectPart, period, notificationId, endpointHash } = (Key ?? Item)!;
    const values = [projectId, projectPart, period, notificationId, endpointHash];
    const text = values.map((value) => Object.values(value ?? {})[0]);
    const counter = text[2]?.split('#')[0];
    if (counter !== undefined && layout === 'one item') text[2] = counter;
    return [TableName, ...text].join(' ');
  }

  return documentClient({
    ...localConfig('http://127.0.0.1:1'),
    requestHandler: {
      handle: async (request: Request) => ({ response: await respond(request) }),
    } as never,
  });
}

function failure(name: string, body: object) {
  return response(400, { ...body, __type: `com.amazonaws.dynamodb.v20120810#${name}` });
}

function response(statusCode: number, body: object) {
  return {
    statusCode,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: new TextEncoder().encode(JSON.stringify(body)),
  };
}
