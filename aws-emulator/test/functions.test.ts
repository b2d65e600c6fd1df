import { readFunctions } from '../functions.ts';
import type { Resource } from '../template.ts';

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
