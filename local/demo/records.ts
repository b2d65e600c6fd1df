import { type DynamoDBDocumentClient, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { ProjectTables } from '../../admin/project-tables.ts';
import type { NotificationItem } from '../../lambdas/store/items.ts';

/** What the tables hold of one project, read past the service. */
export interface Records {
  notification(id: string): Promise<NotificationItem | undefined>;
  countSubscriptions(): Promise<number>;
}

export function records(
  dynamo: DynamoDBDocumentClient,
  tables: ProjectTables,
  projectId: string,
): Records {
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
      let from: Record<string, unknown> | undefined;
      do {
        const page = await dynamo.send(
          new QueryCommand({
            TableName: tables.subscriptions,
            KeyConditionExpression: 'projectId = :projectId',
            ExpressionAttributeValues: { ':projectId': projectId },
            Select: 'COUNT',
            ConsistentRead: true,
            ...(from && { ExclusiveStartKey: from }),
          }),
        );
        count += page.Count ?? 0;
        from = page.LastEvaluatedKey;
      } while (from);
      return count;
    },
  };
}
