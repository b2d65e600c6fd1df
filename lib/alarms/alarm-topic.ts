import { Annotations, Stack } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import type { Settings } from '../settings.ts';

type AlarmSettings = Pick<Settings, 'stage' | 'alarmEmail' | 'alarmTopicArn'>;

/**
 * What an alarm does: it publishes to the topic of the settings.
 * @returns undefined if the operator wants none, or after a warning at synthesis.
 */
export function alarmAction(
  scope: Construct,
  { stage, alarmEmail, alarmTopicArn }: AlarmSettings,
): cloudwatch.IAlarmAction | undefined {
  if (alarmTopicArn !== undefined) {
    return new SnsAction(sns.Topic.fromTopicArn(scope, 'Topic', alarmTopicArn));
  }
  if (alarmEmail !== undefined) {
    return alarmEmail === 'none' ? undefined : new SnsAction(emailTopic(scope, alarmEmail));
  }
  if (stage !== 'dev') {
    Annotations.of(scope).addWarningV2(
      'carillon:alarmAction',
      'Alarms notify nobody: set alarmEmail, to an address of yours or to "none", or alarmTopicArn under "context" in cdk.json.',
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
