import { stackNameOf } from '../../contract/infrastructure/stack-name.ts';
import type { settingNames } from '../../lib/settings.ts';
import { synthesize } from '../fixtures/synthesized-stack.ts';

/** One other value than the default for each setting. */
const settings: Readonly<Record<(typeof settingNames)[number], string>> = {
  stage: 'eu',
  subscriberCap: '5',
  monthlySendCap: '7',
  rateLimitPerMinute: '9',
  pushesPerSecond: '500',
  vapidSubject: 'https://carillon.net/contact',
  extraPushOrigins: 'https://a.example,https://b.example',
  preferIpv6: 'true',
  console: 'false',
  alarmEmail: 'on-call@carillon.net',
  alarmTopicArn: 'arn:aws:sns:eu-west-1:123456789012:on-call',
  monthlyBudget: '20',
  runbookUrl: 'https://carillon.example/runbook',
  domainName: 'push.carillon.example',
  certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/1234-abcd',
  hostedZoneId: 'Z0123456789',
  publicBaseUrl: 'https://carillon.example',
  originSecretHashes: `${'a1'.repeat(32)},${'b2'.repeat(32)}`,
  requireOriginSecret: 'true',
  accountConcurrency: '3000',
  eventsPerSecond: '12000',
  warmWritesPerSecond: '12000',
};
// `independent` has the values of variables: together they show the same as each alone.
const {
  alarmTopicArn,
  alarmEmail,
  monthlyBudget,
  stage,
  domainName,
  certificateArn,
  hostedZoneId,
  publicBaseUrl,
  originSecretHashes,
  requireOriginSecret,
  ...independent
} = settings;
const domain = { domainName, certificateArn };

test.each([
  {},
  { stage },
  { alarmEmail, monthlyBudget, ...independent },
  { alarmTopicArn },
  { publicBaseUrl },
  { originSecretHashes },
  { originSecretHashes, requireOriginSecret },
  domain,
  { ...domain, hostedZoneId, publicBaseUrl, originSecretHashes, requireOriginSecret },
])('the stack is synthesized with the settings %j', (context) => {
  expect(Object.keys(resourcesOf(context)).length).toBeGreaterThan(100);
});

// AWS shows costs by tag.
test.each(['prod', 'dev'])('the resources of the stage %s have the tag of its service', (stage) => {
  const tagged = Object.values(resourcesOf({ stage })).filter(({ Properties }) => Properties?.Tags);
  expect([...new Set(tagged.map(({ Type }) => Type))]).toEqual(
    expect.arrayContaining([
      ...['AWS::DynamoDB::Table', 'AWS::Lambda::Function', 'AWS::Logs::LogGroup'],
      ...['AWS::ApiGatewayV2::Api', 'AWS::CloudWatch::Alarm', 'AWS::IAM::Role'],
    ]),
  );
  for (const { Properties } of tagged) {
    const { Tags } = Properties as { Tags: object };
    const list = Array.isArray(Tags)
      ? Tags
      : Object.entries(Tags).map(([Key, Value]) => ({ Key, Value }));
    expect(list).toEqual([{ Key: 'carillon:service', Value: stackNameOf(stage) }]);
  }
});

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

function resourcesOf(context: Readonly<Record<string, unknown>>): Record<string, Resource> {
  return synthesize(context).template.toJSON().Resources;
}
