import {
  type DynamoDBDocumentClient,
  paginateQuery,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { ProjectRef } from '../../contract/project.ts';
import type { SubscriptionItem } from '../../lambdas/store/items.ts';
import { partCount, projectPart } from '../../lambdas/store/subscription-keys.ts';

/**
 * Reads the subscriptions of a project, page by page, in the order of the hashes of their endpoints: two reads of
 * the same subscriptions are equal. A subscription that is stored during the whole read is in it.
 * @param selection of attributes and items. Default: all.
 */
export async function* subscriptionPages(
  dynamo: DynamoDBDocumentClient,
  table: string,
  project: ProjectRef,
  selection: Pick<
    QueryCommandInput,
    'ProjectionExpression' | 'FilterExpression' | 'ExpressionAttributeValues'
  > = {},
): AsyncGenerator<readonly SubscriptionItem[]> {
  for (let part = 0; part < partCount; part += 1) {
    const pages = paginateQuery(
      { client: dynamo },
      {
        ...selection,
        TableName: table,
        KeyConditionExpression: 'projectPart = :part',
        ExpressionAttributeValues: {
          ':part': projectPart(project, part),
          ...selection.ExpressionAttributeValues,
        },
        ConsistentRead: true,
      },
    );
    for await (const { Items = [] } of pages) yield Items as SubscriptionItem[];
  }
}
