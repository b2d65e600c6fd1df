import { requiredGrants } from '../dynamodb-proxy.ts';

const arn = (path: string) => `arn:aws:dynamodb:us-east-1:000000000000:table/${path}`;
const everything = ['*', '*'];

test.each<[string, object, string[][]]>([
  ['GetItem', { TableName: 'A' }, [['GetItem', arn('A')]]],
  ['Query', { TableName: 'A', IndexName: 'byUser' }, [['Query', arn('A/index/byUser')]]],
  ['Scan', { TableName: 'A', IndexName: 'byUser' }, [['Scan', arn('A/index/byUser')]]],
  ['ListTables', {}, [['ListTables', '*']]],
  ['ExecuteStatement', { Statement: 'SELECT * FROM A' }, [['ExecuteStatement', '*']]],
  [
    'TransactWriteItems',
    {
      TransactItems: [
        { Put: { TableName: 'A' } },
        { Update: { TableName: 'B' } },
        { Delete: { TableName: 'C' } },
        { ConditionCheck: { TableName: 'D' } },
      ],
    },
    [
      ['PutItem', arn('A')],
      ['UpdateItem', arn('B')],
      ['DeleteItem', arn('C')],
      ['ConditionCheckItem', arn('D')],
    ],
  ],
  ['TransactGetItems', { TransactItems: [{ Get: { TableName: 'A' } }] }, [['GetItem', arn('A')]]],
  // Requests that cannot be read require a grant that no function has.
  ['TransactWriteItems', {}, [everything]],
  ['TransactWriteItems', { TransactItems: [{ Drop: { TableName: 'A' } }] }, [everything]],
  [
    'BatchWriteItem',
    { RequestItems: { A: [], B: [] } },
    [
      ['BatchWriteItem', arn('A')],
      ['BatchWriteItem', arn('B')],
    ],
  ],
])('%s of %j requires the grants of its actions', (operation, parameters, grants) => {
  expect(requiredGrants(operation, parameters as Record<string, unknown>)).toEqual(
    grants.map(([action, resource]) => ({ action: `dynamodb:${action}`, resource })),
  );
});
