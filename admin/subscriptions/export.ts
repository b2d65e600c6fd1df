import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { SubscriptionItem } from '../../lambdas/store/items.ts';
import { partCount, projectPart } from '../../lambdas/store/subscription-keys.ts';
import { exportLine } from './line.ts';

/**
 * Reads the subscriptions of a project, page by page, in the order of the hashes of their endpoints: two exports of
 * the same subscriptions are the same text. A subscription that is stored during the whole export is in it.
 */
export async function* exportPages(
  dynamo: DynamoDBDocumentClient,
  table: string,
  projectId: string,
): AsyncGenerator<readonly string[]> {
  for (let part = 0; part < partCount; part += 1) {
    let startKey: Record<string, unknown> | undefined;
    do {
      const page = await dynamo.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: 'projectPart = :part',
          ExpressionAttributeValues: { ':part': projectPart(projectId, part) },
          ConsistentRead: true,
          ...(startKey && { ExclusiveStartKey: startKey }),
        }),
      );
      yield ((page.Items ?? []) as SubscriptionItem[]).map((item) => exportLine(projectId, item));
      startKey = page.LastEvaluatedKey;
    } while (startKey);
  }
}
