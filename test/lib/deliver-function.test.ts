import { synthesize } from '../fixtures/synthesized-stack.ts';

const { resources, functionNamed } = synthesize();
const deliver = functionNamed('deliver');

test('no route leads to deliver', () => {
  const integrations = Object.values(resources('AWS::ApiGatewayV2::Integration'));
  expect(integrations).not.toHaveLength(0);
  expect(JSON.stringify(integrations)).not.toContain(deliver);
});

test('an asynchronous invocation has two retries and one hour', () => {
  const configurations = Object.values(resources('AWS::Lambda::EventInvokeConfig'));
  expect(configurations.map(({ Properties }) => Properties)).toEqual([
    {
      FunctionName: { Ref: deliver },
      Qualifier: '$LATEST',
      MaximumRetryAttempts: 2,
      MaximumEventAgeInSeconds: 3600,
    },
  ]);
});
