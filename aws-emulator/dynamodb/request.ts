import type { Grant } from '../grants.ts';
import { localAccount, localRegion } from '../template.ts';

/** The JSON body of a request to DynamoDB. */
export type DynamoDbParameters = Readonly<Record<string, unknown>>;

/**
 * The grants that IAM requires for a request. An index is a separate resource. A transaction requires
 * the grants of its items. A batch is a separate action and requires a grant per table.
 * @param operation such as `UpdateItem`.
 */
export function requiredGrants(
  operation: string,
  parameters: DynamoDbParameters,
): readonly Grant[] {
  switch (operation) {
    case 'TransactWriteItems':
      return transactionGrants(parameters, {
        Put: 'PutItem',
        Update: 'UpdateItem',
        Delete: 'DeleteItem',
        ConditionCheck: 'ConditionCheckItem',
      });
    case 'TransactGetItems':
      return transactionGrants(parameters, { Get: 'GetItem' });
    case 'BatchGetItem':
    case 'BatchWriteItem':
      return Object.keys(parameters.RequestItems ?? {}).map((table) => grant(operation, table));
    default:
      return [grant(operation, parameters.TableName, parameters.IndexName)];
  }
}

function transactionGrants(
  { TransactItems }: DynamoDbParameters,
  operations: Readonly<Record<string, string>>,
): readonly Grant[] {
  if (!Array.isArray(TransactItems)) return [fullAccess];
  return TransactItems.flatMap((item: Readonly<Record<string, DynamoDbParameters>>) =>
    Object.entries(item).map(([kind, { TableName }]) => {
      const operation = operations[kind];
      return operation === undefined ? fullAccess : grant(operation, TableName);
    }),
  );
}

/** No function has this grant, so that a request which cannot be read is refused. */
const fullAccess: Grant = { action: 'dynamodb:*', resource: '*' };

function grant(operation: string, table: unknown, index?: unknown): Grant {
  const action = `dynamodb:${operation}`;
  // For example ListTables, or a PartiQL statement.
  if (table === undefined) return { action, resource: '*' };
  const arn = `arn:aws:dynamodb:${localRegion}:${localAccount}:table/${table}`;
  return { action, resource: index === undefined ? arn : `${arn}/index/${index}` };
}
