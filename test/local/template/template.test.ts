import { projectTables } from '../../../admin/project-tables.ts';
import { tableNames } from '../../../local/dynamodb/table-names.ts';
import { readFunctions } from '../../../local/template/functions.ts';
import { createResolver } from '../../../local/template/references.ts';
import { type Resource, readAssembly } from '../../../local/template/template.ts';
import { type Folder, temporaryFolder } from '../../fixtures/folder.ts';

let folder: Folder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const stack = (name: string) => ({
  type: 'aws:cloudformation:stack',
  properties: { templateFile: `${name}.json`, stackName: name },
});

test('reads the stack of an assembly', () => {
  folder.write(
    'manifest.json',
    JSON.stringify({ artifacts: { A: stack('One'), Tree: { type: 'cdk:tree' } } }),
  );
  folder.write('One.json', JSON.stringify({ Resources: {} }));
  expect(readAssembly(folder.path)).toEqual({
    directory: folder.path,
    stackName: 'One',
    template: { Resources: {} },
  });
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
  return readFunctions(assembly, createResolver(template));
}

test('reads a function with its references resolved and its units converted', () => {
  const properties = {
    Handler: 'index.handler',
    Timeout: 29,
    MemorySize: 512,
    Environment: { Variables: { TABLE: { Ref: 'Projects' }, CAP: 5 } },
  };
  expect(functionsOf({ Properties: properties })).toEqual([
    {
      logicalId: 'Send',
      name: 'Send',
      arn: 'arn:aws:lambda:us-east-1:000000000000:function:Send',
      assetPath: '/assembly/asset.1',
      handler: 'index.handler',
      environment: { TABLE: 'Projects', CAP: '5' },
      timeoutMs: 29_000,
      memoryMb: 512,
      reservedConcurrency: undefined,
      asynchronous: { retries: 2, maximumAgeMs: 21_600_000 },
    },
  ]);
});

test('gives a function CloudFormation’s defaults', () => {
  const [definition] = functionsOf({ Properties: { Handler: 'index.handler' } });
  expect(definition).toMatchObject({ timeoutMs: 3000, memoryMb: 128, environment: {} });
});

test('reads the settings of asynchronous invocations, and reserved concurrency', () => {
  const Properties = {
    FunctionName: { Ref: 'Send' },
    MaximumRetryAttempts: 0,
    MaximumEventAgeInSeconds: 60,
  };
  const [read] = functionsOf(
    { Properties: { Handler: 'index.handler', ReservedConcurrentExecutions: 3 } },
    { Settings: { Type: 'AWS::Lambda::EventInvokeConfig', Properties } },
  );
  expect(read).toMatchObject({
    reservedConcurrency: 3,
    asynchronous: { retries: 0, maximumAgeMs: 60_000 },
  });
});

test('refuses a function whose code is not an asset', () => {
  const properties = { Handler: 'index.handler' };
  expect(() => functionsOf({ Properties: properties, Metadata: {} })).toThrow(
    'The code of "Send" is not an asset of the assembly.',
  );
});

test('tableNames() collects the table names from the functions’ environments', () => {
  const variables = (Variables: object) =>
    functionsOf({ Properties: { Handler: 'index.handler', Environment: { Variables } } });
  const functions = [
    ...variables({ PROJECTS_TABLE: 'a', SUBSCRIPTIONS_TABLE: 'b', USAGE_TABLE: 'c' }),
    ...variables({ VAPID_KEYS_TABLE: 'f', IDENTITY_KEYS_TABLE: 'h' }),
    ...variables({ DELIVERIES_TABLE: 'g' }),
    ...variables({ PROJECTS_TABLE: 'a', NOTIFICATIONS_TABLE: 'd', RATE_LIMITS_TABLE: 'e' }),
  ];
  const names = tableNames(functions);
  expect(names).toEqual({
    PROJECTS_TABLE: 'a',
    SUBSCRIPTIONS_TABLE: 'b',
    USAGE_TABLE: 'c',
    NOTIFICATIONS_TABLE: 'd',
    RATE_LIMITS_TABLE: 'e',
    VAPID_KEYS_TABLE: 'f',
    IDENTITY_KEYS_TABLE: 'h',
    DELIVERIES_TABLE: 'g',
  });
  expect(projectTables(names)).toEqual({
    projects: 'a',
    vapidKeys: 'f',
    identityKeys: 'h',
    subscriptions: 'b',
    usage: 'c',
    notifications: 'd',
    deliveries: 'g',
    rateLimits: 'e',
  });
});
