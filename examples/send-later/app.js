import { App, CfnOutput, Duration, SecretValue, Stack, TimeZone } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import { ApiDestination } from 'aws-cdk-lib/aws-events-targets';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as scheduler from 'aws-cdk-lib/aws-scheduler';
import { EventBridgePutEvents } from 'aws-cdk-lib/aws-scheduler-targets';
import * as sqs from 'aws-cdk-lib/aws-sqs';

// Write yours: `baseUrl` and project id of the API key card.
const baseUrl = 'https://push.carillon.net';
const projectId = 'my-site';
const secretName = 'push/authorization';

const stack = new Stack(new App(), 'SendLater');

const bus = new events.EventBus(stack, 'Bus');
const undelivered = new sqs.Queue(stack, 'Undelivered', { retentionPeriod: Duration.days(14) });

const connection = new events.Connection(stack, 'Connection', {
  authorization: events.Authorization.apiKey(
    'Authorization',
    SecretValue.secretsManager(secretName),
  ),
  // EventBridge waits 5 s for the response: it comes before the delivery.
  headerParameters: { Prefer: events.HttpParameter.fromString('respond-async') },
});

new events.Rule(stack, 'Send', {
  eventBus: bus,
  eventPattern: { source: ['send-later'] },
  targets: [
    new ApiDestination(
      new events.ApiDestination(stack, 'Carillon', {
        connection,
        endpoint: `${baseUrl}/api/v1/projects/${projectId}/notifications`,
      }),
      {
        event: events.RuleTargetInput.fromEventPath('$.detail.notification'),
        headerParameters: { 'Idempotency-Key': '$.detail.key' },
        // A late notification is worse than none, and a key is remembered for 24 hours only.
        maxEventAge: Duration.hours(1),
        deadLetterQueue: undelivered,
      },
    ),
  ],
});

// Each Friday. For one time, a program makes a schedule: see the README.
new scheduler.Schedule(stack, 'Weekend', {
  schedule: scheduler.ScheduleExpression.cron({
    ...{ weekDay: 'FRI', hour: '17', minute: '30' },
    timeZone: TimeZone.EUROPE_LONDON,
  }),
  target: new EventBridgePutEvents(
    {
      ...{ eventBus: bus, source: 'send-later', detailType: 'notification' },
      detail: scheduler.ScheduleTargetInput.fromObject({
        // Scheduler and EventBridge may both repeat an event: its key stays the same. Use a UUID of your own.
        key: `6f1c7f5e-2b58-4f0d-9f3a-6d2f0c6a8e11-${scheduler.ContextAttribute.scheduledTime}`,
        notification: {
          title: 'What is on this weekend',
          url: 'https://www.carillon.net/weekend',
        },
      }),
    },
    { maxEventAge: Duration.hours(1), deadLetterQueue: undelivered },
  ),
});

// For the schedules that programs make.
const role = new iam.Role(stack, 'Scheduler', {
  assumedBy: new iam.ServicePrincipal('scheduler.amazonaws.com'),
});
bus.grantPutEventsTo(role);
new CfnOutput(stack, 'BusArn', { value: bus.eventBusArn });
new CfnOutput(stack, 'RoleArn', { value: role.roleArn });
