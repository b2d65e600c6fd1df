import { type DynamoDBDocumentClient, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { ProjectTables } from '../../admin/project-tables.ts';
import type { NotificationItem } from '../../lambdas/store/items.ts';

/** Reads one project's items directly from the tables, not through the service. */
export interface TableReader {
  notification(id: string): Promise<NotificationItem | undefined>;
  countSubscriptions(): Promise<number>;
}

export function tableReader(
  dynamo: DynamoDBDocumentClient,
  tables: ProjectTables,
  projectId: string,
): TableReader {
  return {
    async notification(id) {
      const { Item } = await dynamo.send(
        new GetCommand({
          TableName: tables.notifications,
          Key: { projectId, notificationId: id },
          ConsistentRead: true,
        }),
      );
      return Item as NotificationItem | undefined;
    },

    async countSubscriptions() {
      let count = 0;
      let startKey: Record<string, unknown> | undefined;
      do {
        const page = await dynamo.send(
          new QueryCommand({
            TableName: tables.subscriptions,
            KeyConditionExpression: 'projectId = :projectId',
            ExpressionAttributeValues: { ':projectId': projectId },
            Select: 'COUNT',
            ConsistentRead: true,
            ...(startKey && { ExclusiveStartKey: startKey }),
          }),
        );
        count += page.Count ?? 0;
        startKey = page.LastEvaluatedKey;
      } while (startKey);
      return count;
    },
  };
}
