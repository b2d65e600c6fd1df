import type { Grant } from '../template/iam-policy.ts';
import { localAccount, localRegion } from '../template/references.ts';

/** The JSON of a request to DynamoDB. */
export type DynamoDbParameters = Readonly<Record<string, unknown>>;

/**
 * What IAM checks before DynamoDB does what it is asked. An index is a resource of its own, a
 * transaction needs what its items would need apart, and a batch is an action of its own on each
 * table.
 * @param operation such as `UpdateItem`.
 */
export function neededGrants(operation: string, parameters: DynamoDbParameters): readonly Grant[] {
  switch (operation) {
    case 'TransactWriteItems':
      return transactionItems(parameters, {
        Put: 'PutItem',
        Update: 'UpdateItem',
        Delete: 'DeleteItem',
        ConditionCheck: 'ConditionCheckItem',
      });
    case 'TransactGetItems':
      return transactionItems(parameters, { Get: 'GetItem' });
    case 'BatchGetItem':
    case 'BatchWriteItem':
      return Object.keys(parameters.RequestItems ?? {}).map((table) => need(operation, table));
    default:
      return [need(operation, parameters.TableName, parameters.IndexName)];
  }
}

function transactionItems(
  { TransactItems }: DynamoDbParameters,
  operations: Readonly<Record<string, string>>,
): readonly Grant[] {
  if (!Array.isArray(TransactItems)) return [anything];
  return TransactItems.flatMap((item: Readonly<Record<string, DynamoDbParameters>>) =>
    Object.entries(item).map(([kind, { TableName }]) => {
      const operation = operations[kind];
      return operation === undefined ? anything : need(operation, TableName);
    }),
  );
}

// Requests that name no table, such as a list of all tables or a statement of PartiQL.
const anything: Grant = { action: 'dynamodb:*', resource: '*' };

function need(operation: string, table: unknown, index?: unknown): Grant {
  const action = `dynamodb:${operation}`;
  if (table === undefined) return { ...anything, action };
  const arn = `arn:aws:dynamodb:${localRegion}:${localAccount}:table/${table}`;
  return { action, resource: index === undefined ? arn : `${arn}/index/${index}` };
}
