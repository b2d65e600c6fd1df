import { createResolver, textResolver } from '../../template/references.ts';

const resolve = createResolver({
  Resources: {
    Projects: { Type: 'AWS::DynamoDB::Table' },
    Send: { Type: 'AWS::Lambda::Function' },
    Named: { Type: 'AWS::DynamoDB::Table', Properties: { TableName: 'projects' } },
  },
});

test.each([
  ['an unknown name', { Ref: 'Nobody' }, 'refers to "Nobody", which the template does not define.'],
  [
    'an attribute of an unknown resource',
    { 'Fn::GetAtt': ['Nobody', 'Arn'] },
    'refers to "Nobody", which the template does not define.',
  ],
  [
    'an unknown attribute',
    { 'Fn::GetAtt': ['Projects', 'StreamArn'] },
    'uses StreamArn of "Projects" (AWS::DynamoDB::Table), which the local stack does not support.',
  ],
  [
    'a physical name',
    { Ref: 'Named' },
    'refers to "Named", whose TableName the local stack does not support.',
  ],
  [
    'an unknown function',
    { 'Fn::Select': [0, []] },
    'uses Fn::Select, which the local stack does not support.',
  ],
])('refuses %s with one sentence', (_, value, message) => {
  expect(() => resolve(value, 'X')).toThrow(new Error(`X ${message}`));
});

test('a text resolver refuses objects and undefined', () => {
  const text = textResolver(resolve);
  expect(text({ Ref: 'Send' }, 'X')).toBe('Send');
  expect(text(7, 'X')).toBe('7');
  expect(() => text({ a: 1 }, 'X')).toThrow(new Error('X must be text.'));
  expect(() => text(undefined, 'X')).toThrow(new Error('X must be text.'));
});
