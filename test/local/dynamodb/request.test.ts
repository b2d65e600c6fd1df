import { requiredGrants } from '../../../local/dynamodb/request.ts';

const arn = (path: string) => `arn:aws:dynamodb:us-east-1:000000000000:table/${path}`;

test.each([
  ['GetItem', { TableName: 'A' }, ['GetItem', arn('A')]],
  ['Query', { TableName: 'A' }, ['Query', arn('A')]],
  ['Query', { TableName: 'A', IndexName: 'byUser' }, ['Query', arn('A/index/byUser')]],
  ['Scan', { TableName: 'A', IndexName: 'byUser' }, ['Scan', arn('A/index/byUser')]],
  ['DescribeTable', { TableName: 'A' }, ['DescribeTable', arn('A')]],
  ['ListTables', {}, ['ListTables', '*']],
  ['ExecuteStatement', { Statement: 'SELECT * FROM A' }, ['ExecuteStatement', '*']],
])('%s of %j requires one grant', (operation, parameters, [action, resource]) => {
  expect(requiredGrants(operation, parameters)).toEqual([
    { action: `dynamodb:${action}`, resource },
  ]);
});

test('a transaction requires the grants of its writes', () => {
  const TransactItems = [
    { Put: { TableName: 'A' } },
    { Update: { TableName: 'B' } },
    { Delete: { TableName: 'C' } },
    { ConditionCheck: { TableName: 'D' } },
  ];
  expect(requiredGrants('TransactWriteItems', { TransactItems })).toEqual([
    { action: 'dynamodb:PutItem', resource: arn('A') },
    { action: 'dynamodb:UpdateItem', resource: arn('B') },
    { action: 'dynamodb:DeleteItem', resource: arn('C') },
    { action: 'dynamodb:ConditionCheckItem', resource: arn('D') },
  ]);
});

test('a transaction requires the grants of its reads', () => {
  const TransactItems = [{ Get: { TableName: 'A' } }, { Get: { TableName: 'B' } }];
  expect(requiredGrants('TransactGetItems', { TransactItems })).toEqual([
    { action: 'dynamodb:GetItem', resource: arn('A') },
    { action: 'dynamodb:GetItem', resource: arn('B') },
  ]);
});

test.each([{}, { TransactItems: [{ Drop: { TableName: 'A' } }] }])(
  'a transaction of %j requires a grant that no function has',
  (parameters) => {
    expect(requiredGrants('TransactWriteItems', parameters)).toEqual([
      { action: 'dynamodb:*', resource: '*' },
    ]);
  },
);

test.each(['BatchGetItem', 'BatchWriteItem'])(
  '%s requires its own action on each table',
  (name) => {
    const action = `dynamodb:${name}`;
    expect(requiredGrants(name, { RequestItems: { A: [], B: [] } })).toEqual([
      { action, resource: arn('A') },
      { action, resource: arn('B') },
    ]);
  },
);
