// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders are CloudFormation's.
import { createResolver, textResolver } from '../../../local/template/references.ts';
import type { Template } from '../../../local/template/template.ts';

const template: Template = {
  Parameters: { Greeting: { Default: 'hello' }, Unset: {} },
  Resources: {
    Projects: { Type: 'AWS::DynamoDB::Table' },
    Named: { Type: 'AWS::DynamoDB::GlobalTable', Properties: { TableName: 'given' } },
    Send: { Type: 'AWS::Lambda::Function' },
    Integration: { Type: 'AWS::ApiGatewayV2::Integration' },
  },
};
const resolve = createResolver(template);

test.each([
  ['a table with a name', { Ref: 'Named' }, 'given'],
  ['a parameter', { Ref: 'Greeting' }, 'hello'],
  [
    'a substitution',
    { 'Fn::Sub': '${Greeting}-${AWS::Region}-${!Literal}' },
    'hello-us-east-1-${Literal}',
  ],
  [
    'a substitution with variables',
    { 'Fn::Sub': ['${Name}!', { Name: { Ref: 'Send' } }] },
    'Send!',
  ],
  [
    'a substitution of an attribute',
    { 'Fn::Sub': 'at ${Send.Arn}' },
    'at arn:aws:lambda:us-east-1:000000000000:function:Send',
  ],
])('resolves %s', (_, value, expected) => {
  expect(resolve(value, 'X')).toEqual(expected);
});

test.each([
  [
    'an unknown name',
    { Ref: 'Nobody' },
    'X refers to "Nobody", which the template does not define.',
  ],
  [
    'a parameter without a default',
    { Ref: 'Unset' },
    'X refers to "Unset", which the template does not define.',
  ],
  [
    'an unknown resource’s attribute',
    { 'Fn::GetAtt': ['Nobody', 'Arn'] },
    'X refers to "Nobody", which the template does not define.',
  ],
  [
    'an unknown attribute',
    { 'Fn::GetAtt': ['Projects', 'StreamArn'] },
    'X uses StreamArn of "Projects" (AWS::DynamoDB::Table), which the local stack does not support.',
  ],
  [
    'an unknown function',
    { 'Fn::Select': [0, []] },
    'X uses Fn::Select, which the local stack does not support.',
  ],
])('refuses %s with one sentence', (_, value, message) => {
  expect(() => resolve(value, 'X')).toThrow(new Error(message));
});

test('a text resolver refuses objects and undefined', () => {
  const text = textResolver(resolve);
  expect(text({ Ref: 'Send' }, 'X')).toBe('Send');
  expect(text(7, 'X')).toBe('7');
  expect(() => text({ a: 1 }, 'X')).toThrow(new Error('X must be text.'));
  expect(() => text(undefined, 'X')).toThrow(new Error('X must be text.'));
});
