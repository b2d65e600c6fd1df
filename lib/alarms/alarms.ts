import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { HttpApi } from '../http-api.ts';
import type { PushMetrics } from '../push-metrics.ts';
import type { ServiceTables } from '../service-table.ts';
import type { Settings } from '../settings.ts';
import {
  type AlarmDefinition,
  type AlarmedFunctions,
  databaseAlarms,
  functionAlarms,
  pushAlarms,
  requestAlarms,
} from './alarm-definitions.ts';
import { alarmTopic } from './alarm-topic.ts';

export interface AlarmsProps extends Pick<AlarmedFunctions, 'endpoints' | 'deliver'> {
  readonly settings: Settings;
  readonly api: HttpApi;
  readonly pushes: PushMetrics;
  readonly tables: ServiceTables;
}

/**
 * The alarms of the service. Those with the severity `page` are the causes of one composite alarm,
 * `UsersAffected`, so that people are paged once. The others notify by themselves.
 */
export class Alarms extends Construct {
  /** The composite alarm first. */
  readonly all: readonly cloudwatch.IAlarm[];
  readonly topic: sns.ITopic | undefined;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { settings, api, pushes, tables, endpoints, deliver } = props;
    const { accountConcurrency } = settings;
    const definitions = Object.entries({
      ...requestAlarms(api),
      ...pushAlarms(pushes),
      ...functionAlarms({ endpoints, deliver, accountConcurrency }),
      ...databaseAlarms(tables),
    });
    const alarms = definitions.map(([name, definition]) =>
      this.alarm(name, definition, described(settings, name, definition)),
    );
    const isPage = (_: unknown, index: number) => definitions[index]![1].severity === 'page';
    const usersAffected = new cloudwatch.CompositeAlarm(this, 'UsersAffected', {
      alarmRule: cloudwatch.AlarmRule.anyOf(...alarms.filter(isPage)),
      alarmDescription: described(settings, 'UsersAffected', {
        severity: 'page',
        description: 'An alarm with the severity page fires.',
      }),
    });
    this.topic = alarmTopic(this, settings);
    if (this.topic !== undefined) {
      const action = new SnsAction(this.topic);
      const warnings = alarms.filter((alarm, index) => !isPage(alarm, index));
      for (const alarm of [usersAffected, ...warnings]) alarm.addAlarmAction(action);
    }
    this.all = [usersAffected, ...alarms];
  }

  private alarm(
    id: string,
    { metric, threshold = 1, periods = { bad: 1, of: 1 } }: AlarmDefinition,
    alarmDescription: string,
  ): cloudwatch.Alarm {
    return new cloudwatch.Alarm(this, id, {
      metric,
      threshold,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: periods.of,
      datapointsToAlarm: periods.bad,
      // No data: nothing happened.
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
      alarmDescription,
    });
  }
}

/**
 * `ServerErrors` is described in the runbook under "Server errors", which has the anchor `server-errors`. So is
 * `ServerErrors2`, the second group of its metrics.
 */
function described(
  { runbookUrl = 'docs/runbook.md' }: Pick<Settings, 'runbookUrl'>,
  id: string,
  { severity = 'warning', description }: Pick<AlarmDefinition, 'severity' | 'description'>,
): string {
  const heading = id.replace(/\d+$/, '');
  const anchor = heading.replace(/(?!^)[A-Z]/g, (capital) => `-${capital}`).toLowerCase();
  return `${description} Severity: ${severity}. Runbook: ${runbookUrl}#${anchor}`;
}
