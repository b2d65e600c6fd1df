import { readFunctions } from '../functions.ts';
import {
  createResolver,
  type Resource,
  readAssembly,
  type Template,
  textResolver,
} from '../template.ts';
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

function functionsOf(resource: Partial<Resource>, others: Record<string, Resource> = {}) {
  const template = {
    Resources: {
      Send: {
        Type: 'AWS::Lambda::Function',
        Metadata: { 'aws:asset:path': 'asset.1' },
        ...resource,
      },
      Projects: { Type: 'AWS::DynamoDB::Table' },
      ...others,
    },
  };
  const assembly = { directory: '/assembly', stackName: 'Test', template };
  return readFunctions(assembly);
}

test('gives a function CloudFormation’s defaults', () => {
  const [definition] = functionsOf({ Properties: { Handler: 'index.handler' } });
  expect(definition).toMatchObject({ timeoutMs: 3000, memoryMb: 128, environment: {} });
});

test('reads the settings of asynchronous invocations', () => {
  const Properties = {
    FunctionName: { Ref: 'Send' },
    MaximumRetryAttempts: 0,
    MaximumEventAgeInSeconds: 60,
  };
  const [read] = functionsOf(
    { Properties: { Handler: 'index.handler' } },
    { Settings: { Type: 'AWS::Lambda::EventInvokeConfig', Properties } },
  );
  expect(read).toMatchObject({ asynchronous: { retries: 0, maximumAgeMs: 60_000 } });
});

test('refuses reserved concurrency', () => {
  const Properties = { Handler: 'index.handler', ReservedConcurrentExecutions: 3 };
  expect(() => functionsOf({ Properties })).toThrow('"Send" has reserved concurrency');
});

test('refuses a function whose code is not an asset', () => {
  const properties = { Handler: 'index.handler' };
  expect(() => functionsOf({ Properties: properties, Metadata: {} })).toThrow(
    'The code of "Send" is not an asset of the assembly.',
  );
});
