import { APIGatewayClient, GetAccountCommand } from '@aws-sdk/client-api-gateway';
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import {
  type FunctionConfiguration,
  GetAccountSettingsCommand,
  GetFunctionConfigurationCommand,
  type LambdaClient,
} from '@aws-sdk/client-lambda';
import { ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns';
import type { Quotas } from '../../contract/infrastructure/aws-quotas.ts';
import { deployedStack } from '../deployed-stack.ts';

/** What `doctor` asks AWS about a deployed stack, besides its functions. */
export type AwsFacts = ReturnType<typeof awsFacts>;

interface AwsFactsOptions {
  readonly stack: string;
  /** The value of the tag that the service's resources have. */
  readonly service: string;
  /** Quotas that the settings assume. */
  readonly quotas: Quotas;
  readonly cloudFormation: CloudFormationClient;
}

/** Asks AWS about a deployed stack. Every call only reads. */
export function awsFacts(options: AwsFactsOptions) {
  const { stack, service, quotas, cloudFormation } = options;
  const { region, credentials } = cloudFormation.config;
  const config = { region, credentials };
  const cloudWatch = new CloudWatchClient(config);
  const apiGateway = new APIGatewayClient(config);
  const sns = new SNSClient(config);

  const deployed = deployedStack(cloudFormation, stack);
  const namesOf = async (...types: readonly string[]) =>
    (await deployed.resourcesOf(service))
      .filter(({ type }) => types.includes(type))
      .map(({ name }) => name);

  return {
    quotas,

    functionNames: () => namesOf('AWS::Lambda::Function'),

    requestsPerSecond: () => readThrottle(apiGateway),

    async alarms() {
      const names = await namesOf('AWS::CloudWatch::Alarm', 'AWS::CloudWatch::CompositeAlarm');
      if (names.length === 0) return [];
      const { MetricAlarms = [], CompositeAlarms = [] } = await cloudWatch.send(
        new DescribeAlarmsCommand({
          AlarmNames: names.slice(0, maximumAlarmNames),
          AlarmTypes: ['MetricAlarm', 'CompositeAlarm'],
          MaxRecords: maximumAlarmNames,
        }),
      );
      return [...MetricAlarms, ...CompositeAlarms].map((alarm) => ({
        name: alarm.AlarmName!,
        // The stack writes it at the end of the description.
        runbook: alarm.AlarmDescription?.match(/Severity: \w+\. Runbook: \S+$/)?.[0],
        isFiring: alarm.StateValue === 'ALARM',
        hasAction: alarm.ActionsEnabled === true && (alarm.AlarmActions ?? []).length > 0,
      }));
    },

    /** The topic that the stack has for `alarmEmail`, and whether somebody receives its messages. */
    async alarmTopic() {
      const [arn] = await namesOf('AWS::SNS::Topic');
      if (arn === undefined) return undefined;
      const { Subscriptions = [] } = await sns.send(
        new ListSubscriptionsByTopicCommand({ TopicArn: arn }),
      );
      // An unconfirmed one has `PendingConfirmation` or `Deleted` in place of its ARN.
      const isConfirmed = Subscriptions.some(({ SubscriptionArn }) =>
        SubscriptionArn?.startsWith('arn:'),
      );
      return { arn, isConfirmed };
    },

    stack: () => deployed.status(),

    close() {
      cloudWatch.destroy();
      apiGateway.destroy();
      sns.destroy();
      cloudFormation.destroy();
    },
  };
}

/**
 * Requests per second that API Gateway accepts from all callers of the account in this region. Service Quotas shows
 * its default instead, 10,000, also where 2,500 apply.
 */
export async function readThrottle(apiGateway: APIGatewayClient): Promise<number> {
  const { throttleSettings } = await apiGateway.send(new GetAccountCommand({}));
  return throttleSettings!.rateLimit!;
}

/** DescribeAlarms takes and returns 100 at most. The stack has fewer. */
const maximumAlarmNames = 100;

/** Executions at a time that Lambda allows the account in this region. */
export async function readConcurrency(lambda: LambdaClient): Promise<number> {
  const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand({}));
  return AccountLimit!.ConcurrentExecutions!;
}

/** What `doctor` asks Lambda about a deployed or a local stack. */
export type LambdaFacts = ReturnType<typeof lambdaFacts>;

export function lambdaFacts(lambda: LambdaClient, functionNames: () => Promise<readonly string[]>) {
  return {
    concurrency: () => readConcurrency(lambda),

    async functions() {
      const names = await functionNames();
      const found = names.map((FunctionName) =>
        lambda.send(new GetFunctionConfigurationCommand({ FunctionName })),
      );
      return (await Promise.all(found)).map(factsOf);
    },

    close: () => lambda.destroy(),
  };
}

function factsOf(configuration: FunctionConfiguration) {
  const { FunctionName, State, StateReason, LastUpdateStatus, LastUpdateStatusReason } =
    configuration;
  // Lambda makes a function inactive that has not run for weeks, and active again when it is called.
  const failure =
    State === 'Failed'
      ? (StateReason ?? State)
      : LastUpdateStatus === 'Failed'
        ? (LastUpdateStatusReason ?? 'its last update failed')
        : undefined;
  return {
    name: FunctionName!,
    /** Why the function cannot run; undefined if it can. */
    failure,
    environment: configuration.Environment?.Variables ?? {},
  };
}
