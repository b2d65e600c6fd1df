import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Carillon } from '../../lib/carillon.ts';
import { testContext } from '../fixtures/synthesized-stack.ts';

const env = { account: '123456789012', region: 'eu-west-1' };

/** A stack of this name with everything that a service can have. */
function templateOf(stackName: string) {
  const app = new App({ context: testContext, builtinCloudFormationValidation: false });
  const stack = new Stack(app, 'Shop', { stackName, env });
  new Carillon(stack, 'Push', {
    vapidSubject: 'push@carillon.net',
    alarmEmail: 'push@carillon.net',
    monthlyBudget: 20,
    domainName: 'push.carillon.net',
    certificateArn: `arn:aws:acm:eu-west-1:${env.account}:certificate/12345678-1234-1234-1234-123456789012`,
    hostedZoneId: 'Z0123456789',
    originSecretHashes: ['0'.repeat(64)],
    vpc: new ec2.Vpc(stack, 'Vpc', { availabilityZones: ['eu-west-1a'] }),
    exportOutputs: true,
  });
  return Template.fromStack(stack).toJSON() as {
    readonly Resources: Readonly<Record<string, { Type: string; Properties?: object }>>;
  };
}

/** Names that two stacks may share, by type of resource: they name a part of it, or somebody else's. */
const shared: Readonly<Record<string, readonly string[]>> = {
  'AWS::ApiGatewayV2::Stage': ['StageName'],
  // A domain has one API.
  'AWS::ApiGatewayV2::DomainName': ['DomainName'],
  'AWS::Route53::RecordSet': ['Name', 'HostedZoneId'],
  'AWS::CloudWatch::Alarm': ['MetricName', 'Name', 'Id'],
  'AWS::DynamoDB::Table': ['AttributeName', 'IndexName'],
  // Of the role that it is in.
  'AWS::IAM::Policy': ['PolicyName'],
  'AWS::IAM::Role': ['PolicyName'],
  'AWS::Logs::MetricFilter': ['MetricName'],
};

/** What properties that may be names contain, with their paths, unless CloudFormation generates a part of it. */
function* namesIn(value: unknown, path = ''): Generator<readonly [path: string, name: string]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const at = `${path}.${key}`;
    const isName = /(Name|Id|Alias|Identifier)$/.test(key);
    if (isName && typeof inner === 'string') yield [at, inner];
    else yield* namesIn(inner, at);
  }
}

test('no resource of a service has a name that another stack with the same constructs has', () => {
  const [one, other] = ['shop-prod', 'shop-staging'].map(templateOf);
  const found = Object.entries(one!.Resources).flatMap(([id, { Type, Properties }]) => {
    const others = new Map(namesIn(other!.Resources[id]!.Properties));
    return [...namesIn(Properties)]
      .filter(([path, name]) => others.get(path) === name)
      .filter(([path]) => !shared[Type]?.includes(path.split('.').at(-1)!))
      .map(([path, name]) => `${Type}${path}: ${name}`);
  });
  expect([...new Set(found)]).toEqual([]);
});
