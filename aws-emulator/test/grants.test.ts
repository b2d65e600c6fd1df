import { requiredGrants } from '../dynamodb-proxy.ts';
import { readGrants } from '../grants.ts';
import type { Resource, Template } from '../template.ts';

const projects = 'arn:aws:dynamodb:us-east-1:000000000000:table/Projects';
const projectsArn = { 'Fn::GetAtt': ['Projects', 'Arn'] };

function policy(...Statement: object[]): Resource {
  return {
    Type: 'AWS::IAM::Policy',
    Properties: { PolicyDocument: { Statement }, Roles: [{ Ref: 'SendRole' }] },
  };
}

function grantsOf(resources: Record<string, Resource>) {
  const template: Template = {
    Resources: {
      Projects: { Type: 'AWS::DynamoDB::Table' },
      SendRole: { Type: 'AWS::IAM::Role' },
      Send: {
        Type: 'AWS::Lambda::Function',
        Properties: { Role: { 'Fn::GetAtt': ['SendRole', 'Arn'] } },
      },
      ...resources,
    },
  };
  return readGrants(template).get('Send');
}

const read = { Effect: 'Allow', Action: 'dynamodb:GetItem', Resource: projectsArn };

test('every action of a statement is granted on every resource', () => {
  const index = { 'Fn::Join': ['', [projectsArn, '/index/byUser']] };
  const statement = {
    Effect: 'Allow',
    Action: ['dynamodb:Query', 'dynamodb:Scan'],
    Resource: [projectsArn, index],
  };
  expect(grantsOf({ Policy: policy(statement) })).toEqual([
    { action: 'dynamodb:Query', resource: projects },
    { action: 'dynamodb:Query', resource: `${projects}/index/byUser` },
    { action: 'dynamodb:Scan', resource: projects },
    { action: 'dynamodb:Scan', resource: `${projects}/index/byUser` },
  ]);
});

test('grants of another role are ignored', () => {
  const { Type, Properties } = policy(read);
  const others = { Type, Properties: { ...Properties, Roles: [{ Ref: 'TrackRole' }] } };
  expect(grantsOf({ Policy: others })).toEqual([]);
});

test('statements about other AWS services are ignored', () => {
  const log = { Effect: 'Allow', Action: ['logs:PutLogEvents', 'xray:Put*'], Resource: '*' };
  expect(grantsOf({ Policy: policy(log) })).toEqual([]);
});

test.each([
  ['all actions', { ...read, Action: '*' }, '"*"'],
  ['all actions on tables', { ...read, Action: 'dynamodb:*' }, '"dynamodb:*"'],
  ['a wildcard in an action', { ...read, Action: ['dynamodb:Get*'] }, '"dynamodb:Get*"'],
  ['all actions on functions', { ...read, Action: 'lambda:*' }, '"lambda:*"'],
  ['an AWS service in mixed case', { ...read, Action: 'DynamoDB:GetItem' }, '"DynamoDB:GetItem"'],
  ['all resources', { ...read, Resource: '*' }, '"*"'],
  ['all indexes', { ...read, Resource: `${projects}/index/*` }, `"${projects}/index/*"`],
  ['a denial', { ...read, Effect: 'Deny' }, 'Effect "Deny"'],
  ['a condition', { ...read, Condition: { Bool: {} } }, 'Condition {"Bool":{}}'],
  ['NotAction', { Effect: 'Allow', NotAction: 'dynamodb:Scan' }, 'no Action'],
])('refuses %s and names it', (_, statement, named) => {
  expect(() => grantsOf({ Policy: policy(statement) })).toThrow(
    expect.objectContaining({ message: expect.stringContaining(named) }),
  );
});

test.each(['ManagedPolicyArns', 'Policies', 'PermissionsBoundary'])('refuses %s', (property) => {
  const role = { Type: 'AWS::IAM::Role', Properties: { [property]: ['x'] } };
  expect(() => grantsOf({ SendRole: role })).toThrow(
    new Error(`"SendRole" has ${property}, which the local stack does not support.`),
  );
});

test('refuses a RolePolicy', () => {
  expect(() => grantsOf({ Extra: { Type: 'AWS::IAM::RolePolicy' } })).toThrow(
    new Error('"Extra" is an AWS::IAM::RolePolicy, which the local stack does not support.'),
  );
});

test('refuses a function whose role is not in the template', () => {
  const Properties = { Role: 'arn:aws:iam::000000000000:role/other' };
  expect(() => grantsOf({ Send: { Type: 'AWS::Lambda::Function', Properties } })).toThrow(
    new Error('The role of "Send" is not in the template.'),
  );
});

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
