import { createResolver, readAssembly, type Template, textResolver } from '../template.ts';
import { useFolder } from './fixtures.ts';

const folder = useFolder();

const stack = (name: string) => ({
  type: 'aws:cloudformation:stack',
  properties: { templateFile: `${name}.json`, stackName: name },
});

test('refuses an assembly with several stacks', () => {
  folder.write(
    'manifest.json',
    JSON.stringify({ artifacts: { A: stack('One'), B: stack('Two') } }),
  );
  expect(() => readAssembly(folder.path)).toThrow('The assembly has 2 stacks');
});

test('refuses an assembly whose manifest is missing or malformed', () => {
  expect(() => readAssembly(folder.path)).toThrow('Cannot read the assembly: ENOENT');
  folder.write('manifest.json', '{');
  expect(() => readAssembly(folder.path)).toThrow('Cannot read the assembly:');
});

const template: Template = {
  Resources: {
    Projects: { Type: 'AWS::DynamoDB::Table' },
    Send: { Type: 'AWS::Lambda::Function' },
    Named: { Type: 'AWS::DynamoDB::Table', Properties: { TableName: 'projects' } },
  },
};

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
  expect(() => createResolver(template)(value, 'X')).toThrow(new Error(`X ${message}`));
});

test('a text resolver refuses objects and undefined', () => {
  const text = textResolver(template);
  expect(text({ Ref: 'Send' }, 'X')).toBe('Send');
  expect(text(7, 'X')).toBe('7');
  expect(() => text({ a: 1 }, 'X')).toThrow(new Error('X must be text.'));
  expect(() => text(undefined, 'X')).toThrow(new Error('X must be text.'));
});
