import {
  type CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import { DescribeContinuousBackupsCommand } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { paginateListServiceQuotas, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Quotas } from '../../contract/quotas.ts';
import type { DeploymentFacts } from './facts.ts';
import { functionFacts } from './function-facts.ts';

/** API Gateway's quota "Throttle rate": requests per second of all APIs of the account in a region. */
const throttleRateQuota = 'L-8A5B8E43';

export interface AwsFacts extends DeploymentFacts {
  close(): void;
}

export interface AwsFactsOptions {
  readonly stackName: string;
  readonly apiUrl: string;
  readonly quotas: Quotas;
  readonly cloudFormation: CloudFormationClient;
  readonly dynamo: DynamoDBDocumentClient;
  /** Whose backups are asked for. */
  readonly tables: Readonly<Record<string, string>>;
}

/** Asks AWS about a deployed stack. Every call only reads. */
export function awsFacts(options: AwsFactsOptions): AwsFacts {
  const { stackName, apiUrl, quotas, cloudFormation, dynamo, tables } = options;
  const { region, credentials } = cloudFormation.config;
  const config = { region, credentials };
  const lambda = new LambdaClient(config);
  const cloudWatch = new CloudWatchClient(config);
  const serviceQuotas = new ServiceQuotasClient(config);

  /** The physical names of the stack's resources of a type. */
  async function namesOf(...types: readonly string[]): Promise<readonly string[]> {
    const names: string[] = [];
    const pages = paginateListStackResources({ client: cloudFormation }, { StackName: stackName });
    for await (const { StackResourceSummaries = [] } of pages) {
      for (const { ResourceType, PhysicalResourceId } of StackResourceSummaries) {
        if (types.includes(ResourceType!) && PhysicalResourceId) names.push(PhysicalResourceId);
      }
    }
    return names;
  }

  return {
    apiUrl,
    quotas,
    ...functionFacts(lambda, () => namesOf('AWS::Lambda::Function')),

    async requestsPerSecond() {
      const pages = paginateListServiceQuotas(
        { client: serviceQuotas },
        { ServiceCode: 'apigateway' },
      );
      for await (const { Quotas = [] } of pages) {
        const found = Quotas.find(({ QuotaCode }) => QuotaCode === throttleRateQuota);
        if (found !== undefined) return found.Value;
      }
      return undefined;
    },

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
        isFiring: alarm.StateValue === 'ALARM',
        hasAction: alarm.ActionsEnabled === true && (alarm.AlarmActions ?? []).length > 0,
      }));
    },

    async stack() {
      const { Stacks } = await cloudFormation.send(
        new DescribeStacksCommand({ StackName: stackName }),
      );
      const { StackStatus, EnableTerminationProtection } = Stacks![0]!;
      return { status: StackStatus!, isProtected: EnableTerminationProtection === true };
    },

    async tablesWithoutBackup() {
      const found = await Promise.all(
        Object.values(tables).map(async (TableName) => {
          const { ContinuousBackupsDescription: backups } = await dynamo.send(
            new DescribeContinuousBackupsCommand({ TableName }),
          );
          const status = backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
          return status === 'ENABLED' ? [] : [TableName];
        }),
      );
      return found.flat();
    },

    close() {
      lambda.destroy();
      cloudWatch.destroy();
      serviceQuotas.destroy();
    },
  };
}

/** DescribeAlarms takes and returns 100 at most. The stack has fewer. */
const maximumAlarmNames = 100;
