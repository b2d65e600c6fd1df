import { readFileSync } from 'node:fs';
import { nodeVersion } from '../../contract/infrastructure/runtime.ts';
import { everyRoute } from '../fixtures/route-names.ts';
import { synthesize } from '../fixtures/synthesized-stack.ts';

const { template, resources, functionNamed } = synthesize();
/** One for each route, deliver and console. */
const functionCount = everyRoute.length + 2;

test('functions run on Node.js 24 and ARM', () => {
  template.resourceCountIs('AWS::Lambda::Function', functionCount);
  template.allResourcesProperties('AWS::Lambda::Function', {
    Runtime: 'nodejs24.x',
    Architectures: ['arm64'],
    Handler: 'index.handler',
  });
});

test('developers are asked to use the Node version of the functions', () => {
  expect(readFileSync('.nvmrc', 'utf8').trim()).toBe(String(nodeVersion));
});

test('each function has a log group with a retention of one month', () => {
  const groups = Object.values(resources('AWS::Lambda::Function')).map(
    ({ Properties }) => Properties.LoggingConfig.LogGroup.Ref,
  );
  expect(new Set(groups).size).toBe(functionCount);
  template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 });
});

test('Lambda’s own lines are about failures only, and about every invocation of what pushes', () => {
  const levels = Object.entries(resources('AWS::Lambda::Function')).map(([id, { Properties }]) => {
    const { LogFormat, SystemLogLevel } = Properties.LoggingConfig;
    return [id, `${LogFormat} ${SystemLogLevel}`];
  });
  const pushing = [functionNamed('send'), functionNamed('deliver')];
  for (const [id, level] of levels) {
    expect(level).toBe(pushing.includes(id!) ? 'JSON INFO' : 'JSON WARN');
  }
});

test('an asynchronous invocation of deliver has two retries and one hour', () => {
  const configurations = Object.values(resources('AWS::Lambda::EventInvokeConfig'));
  expect(configurations.map(({ Properties }) => Properties)).toEqual([
    {
      FunctionName: { Ref: functionNamed('deliver') },
      Qualifier: '$LATEST',
      MaximumRetryAttempts: 2,
      MaximumEventAgeInSeconds: 3600,
    },
  ]);
});
