import { Annotations, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import type { Settings } from '../settings.ts';

type AlarmSettings = Pick<Settings, 'stage' | 'alarmEmail' | 'alarmTopicArn'>;

/**
 * The topic of the settings, to which alarms publish.
 * @returns undefined if the operator wants none, or after a warning at synthesis.
 */
export function alarmTopic(
  scope: Construct,
  { stage, alarmEmail, alarmTopicArn }: AlarmSettings,
): sns.ITopic | undefined {
  if (alarmTopicArn !== undefined) {
    return sns.Topic.fromTopicArn(scope, 'Topic', alarmTopicArn);
  }
  if (alarmEmail !== undefined) {
    return alarmEmail === 'none' ? undefined : emailTopic(scope, alarmEmail);
  }
  if (stage !== 'dev') {
    Annotations.of(scope).addWarningV2(
      'carillon:alarmAction',
      'Alarms notify nobody: set alarmEmail, to an address of yours or to "none", or alarmTopicArn.',
    );
  }
  return undefined;
}

function emailTopic(scope: Construct, address: string): sns.Topic {
  const topic = new sns.Topic(scope, 'Topic', { enforceSSL: true });
  topic.addSubscription(new EmailSubscription(address));
  // The policy that requires TLS replaces the default one, which allows the account to publish.
  topic.grantPublish(
    new iam.ServicePrincipal('cloudwatch.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  return topic;
}
