import { type DynamoDBDocumentClient, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { ProjectTables } from '../../admin/project-tables.ts';
import {
  type NotificationItem,
  type TallyItem,
  tallyKey,
  tallyNumbers,
} from '../../lambdas/store/items.ts';
import { partCount, projectPart } from '../../lambdas/store/subscription-keys.ts';

/** Reads one project's items directly from the tables, not through the service. */
export interface TableReader {
  /** All tallies of a notification. */
  tallies(id: string): Promise<readonly TallyItem[]>;
  countSubscriptions(): Promise<number>;
}

export function tableReader(
  dynamo: DynamoDBDocumentClient,
  tables: ProjectTables & { readonly tallies: string },
  projectId: string,
): TableReader {
  const get = async (TableName: string, Key: Record<string, string>) => {
    const { Item } = await dynamo.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
    if (Item === undefined) throw new Error(`The tables have no ${JSON.stringify(Key)}.`);
    return Item;
  };

  return {
    async tallies(id) {
      const key = { projectId, notificationId: id };
      const notification = (await get(tables.notifications, key)) as NotificationItem;
      const items = tallyNumbers(notification).map((number) =>
        get(tables.tallies, { tally: tallyKey(id, number) }),
      );
      return (await Promise.all(items)) as TallyItem[];
    },

    async countSubscriptions() {
      const parts = Array.from({ length: partCount }, (_, part) => countPart(part));
      return (await Promise.all(parts)).reduce((sum, count) => sum + count, 0);
    },
  };

  async function countPart(part: number): Promise<number> {
    let count = 0;
    let startKey: Record<string, unknown> | undefined;
    do {
      const page = await dynamo.send(
        new QueryCommand({
          TableName: tables.subscriptions,
          KeyConditionExpression: 'projectPart = :part',
          ExpressionAttributeValues: { ':part': projectPart(projectId, part) },
          Select: 'COUNT',
          ConsistentRead: true,
          ...(startKey && { ExclusiveStartKey: startKey }),
        }),
      );
      count += page.Count ?? 0;
      startKey = page.LastEvaluatedKey;
    } while (startKey);
    return count;
  }
}
