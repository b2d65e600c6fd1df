import { Annotations, Duration, Stack, Token } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { RouteName } from '../contract/routes.ts';
import { sendTimeline, sliceTimeline } from '../contract/timeline.ts';
import { byUserIndex } from '../lambdas/store/items.ts';
import type { HttpApi } from './http-api.ts';
import type { PushMetrics } from './push-metrics.ts';
import type { ServiceFunction } from './service-function.ts';
import type { ServiceTables } from './service-table.ts';
import type { Settings } from './settings.ts';

/** CloudWatch's limit for the metrics of one alarm. */
const mostMetrics = 10;

/** The period of a metric, and of an alarm on it, where nothing else is said. */
const period = Duration.minutes(5);

export interface AlarmsProps extends Pick<AlarmedFunctions, 'endpoints' | 'deliver'> {
  /** Where they publish to, if the operator gives a construct. */
  readonly topic: sns.ITopic | undefined;
  readonly settings: Settings;
  readonly api: HttpApi;
  readonly pushes: PushMetrics;
  readonly tables: ServiceTables;
}

/** As in the runbook. */
export type AlarmName = string;

/**
 * The alarms of the service. Those with the severity `page` are the causes of one composite alarm,
 * `UsersAffected`, so that people are paged once. The others notify by themselves.
 */
export class Alarms extends Construct {
  /** By their names. The composite alarm is the first. */
  readonly alarms: Readonly<Record<AlarmName, cloudwatch.AlarmBase>>;
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
    this.topic = props.topic ?? alarmTopic(this, settings);
    if (this.topic !== undefined) {
      const action = new SnsAction(this.topic);
      const warnings = alarms.filter((alarm, index) => !isPage(alarm, index));
      for (const alarm of [usersAffected, ...warnings]) alarm.addAlarmAction(action);
    }
    this.alarms = {
      UsersAffected: usersAffected,
      ...Object.fromEntries(definitions.map(([name], index) => [name, alarms[index]!])),
    };
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

type AlarmSettings = Pick<Settings, 'stage' | 'alarmEmail' | 'alarmTopicArn'>;

/**
 * The topic of the settings, to which alarms publish.
 * @returns undefined if the operator wants none, or after a warning at synthesis.
 */
function alarmTopic(
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
  // With another id, the address would have to be confirmed again.
  new sns.Subscription(topic, Token.isUnresolved(address) ? 'Email' : address, {
    topic,
    protocol: sns.SubscriptionProtocol.EMAIL,
    endpoint: address,
  });
  // The policy that requires TLS replaces the default one, which allows the account to publish.
  topic.grantPublish(
    new iam.ServicePrincipal('cloudwatch.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  return topic;
}

interface AlarmDefinition {
  /**
   * `page`: users are affected now, so the alarm is a cause of the composite alarm that pages people.
   * `warning`: it notifies by itself, and can wait until morning.
   * @default warning
   */
  readonly severity?: 'page' | 'warning';
  readonly metric: cloudwatch.IMetric;
  /**
   * Value of the metric from which a period is bad.
   * @default 1
   */
  readonly threshold?: number;
  /**
   * Of how many periods how many must be bad.
   * @default one of one
   */
  readonly periods?: { readonly bad: number; readonly of: number };
  /** The event, for the operator. */
  readonly description: string;
}

/** By the alarm's id, such as `ServerErrors`, which is also its heading in the runbook: "Server errors". */
type AlarmDefinitions = Readonly<Record<string, AlarmDefinition>>;

/** For faults that pass by themselves: a short one does not fire the alarm. */
const twoOfThree = { bad: 2, of: 3 } as const;

/**
 * For metrics of deliver's invocations. Lambda stamps them with the start and emits them after the end, so the
 * last period never has those of a long invocation. Two more periods: a value is visible some minutes later.
 */
const anyDuringDeliver = {
  bad: 1,
  of: sliceTimeline.timeoutMs / period.toMilliseconds() + 2,
} as const;

/** From this share of its limit, a duration or a number counts as near it. */
const nearLimit = 0.8;

/** Alarms on what callers get. */
function requestAlarms(api: HttpApi): AlarmDefinitions {
  const ofAll = { part: api.metric('5xx', 'Sum'), whole: api.metric('Count', 'Sum') };
  // Apart from all requests: thousands of events per second would hide that every send fails.
  const ofSends = { part: api.sendMetric('5xx', 'Sum'), whole: api.sendMetric('Count', 'Sum') };
  // For sites with a few requests in an hour. One error is no outage; two may be one request and its
  // repetition, and fire only if nothing else succeeds.
  const few = { minimum: 2, threshold: 50, per: Duration.hours(1) };
  return {
    ServerErrors: {
      severity: 'page',
      metric: percentage(ofAll, 5),
      threshold: 5,
      description: 'At least 5 % of all requests got a 5xx response.',
    },
    SendErrors: {
      severity: 'page',
      metric: percentage(ofSends, 3),
      threshold: 5,
      description: 'At least 5 % of the sends got a 5xx response.',
    },
    HourlyServerErrors: {
      severity: 'page',
      metric: percentage({ ...ofAll, per: few.per }, few.minimum),
      threshold: few.threshold,
      description: 'At least half of all requests of an hour got a 5xx response.',
    },
    HourlySendErrors: {
      severity: 'page',
      metric: percentage({ ...ofSends, per: few.per }, few.minimum),
      threshold: few.threshold,
      description: 'At least half of the sends of an hour got a 5xx response.',
    },
    SendLatency: {
      metric: api.sendMetric('Latency', 'p90'),
      threshold: nearLimit * sendTimeline.timeoutMs,
      periods: twoOfThree,
      description: 'One send in ten needs nearly all of its time.',
    },
  };
}

/** Alarms on subscribers and the delivery of notifications. */
function pushAlarms(pushes: PushMetrics): AlarmDefinitions {
  const attempted = pushes.metricOf('attempted');
  // Otherwise one project's old list would page, or hide that a push service is down.
  const without = pushes.metricOf('failedForOwner');
  return {
    FailedPushes: {
      severity: 'page',
      metric: percentage({ part: pushes.metricOf('failed'), whole: attempted, without }, 50),
      threshold: 20,
      description:
        'At least 20 % of the pushes failed. Failures that only the project can repair do not count.',
    },
    VapidRefusals: {
      metric: percentage({ part: pushes.metricOf('vapidRefused'), whole: attempted }, 10),
      description: 'Push services refuse the VAPID keys or the VAPID subject of a project.',
    },
    UnreachedSubscribers: {
      metric: pushes.metricOf('unreached'),
      description: 'A notification was not sent to all subscribers of its audience.',
    },
    InterruptedPushes: {
      metric: pushes.metricOf('interrupted'),
      description: 'A function crashed while it pushed: the outcome of some pushes is unknown.',
    },
    ResultsNotStored: {
      metric: pushes.metricOf('resultsNotStored'),
      description: 'The counts of a notification, or its cancellation, could not be stored.',
    },
    SubscribersRefused: {
      metric: pushes.refusals(),
      description: 'A project has as many subscribers as its cap allows, and refuses new ones.',
    },
    CountsDisagree: {
      metric: pushes.disagreements(),
      description: 'Counts of a notification or of a project contradict each other.',
    },
  };
}

interface AlarmedFunctions {
  readonly endpoints: Readonly<Record<RouteName, ServiceFunction>>;
  readonly deliver: ServiceFunction;
  /** Executions at a time that AWS allows the account. */
  readonly accountConcurrency: number;
}

/** Alarms on the functions and on the account's concurrency. */
function functionAlarms({
  endpoints,
  deliver,
  accountConcurrency,
}: AlarmedFunctions): AlarmDefinitions {
  const { send, ...others } = endpoints;
  return {
    // Of the other functions, an error is a 5xx response of the API. Deliver fails by design, so that Lambda repeats it
    // for a slice that is not finished: InterruptedPushes and DroppedInvocations tell when that loses something.
    CrashedSends: {
      metric: send.metricErrors(),
      description: 'The send function crashed or timed out.',
    },
    // For send, the latency of its route.
    ...inGroups('SlowFunctions', Object.values(others), (group) => ({
      metric: highestUse(
        group.map((fn) => ({
          metric: fn.metricDuration({ statistic: 'p99' }),
          limit: fn.timeout!.toMilliseconds(),
        })),
      ),
      threshold: 100 * nearLimit,
      periods: twoOfThree,
      description: 'A function needs nearly all of its time.',
    })),
    SlowDeliveries: {
      metric: deliver.metricDuration({ statistic: 'Maximum' }),
      threshold: nearLimit * deliver.timeout!.toMilliseconds(),
      periods: anyDuringDeliver,
      description: 'The deliver function needed nearly all of its time.',
    },
    // Without deliver: its throttled invocations wait, or send delivers their slices itself.
    ...inGroups('ThrottledFunctions', Object.values(endpoints), (group) => ({
      severity: 'page',
      metric: sum(group.map((fn) => fn.metricThrottles())),
      periods: twoOfThree,
      description: 'Lambda throttles invocations, because the account runs too many functions.',
    })),
    AccountConcurrency: {
      // Of all functions in the account and region; it has no dimensions.
      metric: new cloudwatch.Metric({
        namespace: 'AWS/Lambda',
        metricName: 'ClaimedAccountConcurrency',
        statistic: 'Maximum',
      }),
      threshold: nearLimit * accountConcurrency,
      description: 'The account runs nearly as many functions as AWS allows.',
    },
    DroppedInvocations: {
      severity: 'page',
      metric: deliver.metric('AsyncEventsDropped', { statistic: 'Sum' }),
      description:
        'Lambda gave up an invocation of the deliver function, after three failures or an hour ' +
        'without free concurrency: part of an audience was not notified.',
    },
  };
}

/** Alarms on the database. Its clients repeat such calls; what still fails is a 5xx response. */
function databaseAlarms(tables: ServiceTables): AlarmDefinitions {
  const { projects, subscriptions, usage, notifications, deliveries, rateLimits } = tables;
  return {
    DatabaseThrottles: {
      // The reads and writes that grow with traffic.
      metric: sum([
        projects.throttles('Read'),
        subscriptions.throttles('Read'),
        subscriptions.throttles('Read', byUserIndex),
        deliveries.throttles('Read'),
        subscriptions.throttles('Write'),
        subscriptions.throttles('Write', byUserIndex),
        usage.throttles('Write'),
        notifications.throttles('Write'),
        deliveries.throttles('Write'),
        rateLimits.throttles('Write'),
      ]),
      threshold: 10,
      periods: twoOfThree,
      description: 'DynamoDB throttles the service.',
    },
    TransactionConflicts: {
      // Requests of one project meet at its counters. An alarm on this metric alone would ignore missing data,
      // as all alarms in the namespace of DynamoDB do, and would never end.
      metric: sum([usage.transactionConflicts()]),
      threshold: 100,
      periods: twoOfThree,
      description: 'Many transactions on the counters of a project conflict.',
    },
  };
}

/**
 * The same alarm for any number of sources of a metric: one alarm for as many as CloudWatch takes in one.
 * The ids are `id`, `id2` and so on.
 */
export function inGroups<Source>(
  id: string,
  sources: readonly Source[],
  define: (group: readonly Source[]) => AlarmDefinition,
): AlarmDefinitions {
  const starts = sources.flatMap((_, index) => (index % mostMetrics === 0 ? [index] : []));
  return Object.fromEntries(
    starts.map((start, index) => [
      index === 0 ? id : id + (index + 1),
      define(sources.slice(start, start + mostMetrics)),
    ]),
  );
}

/** A part of a whole. */
interface Ratio {
  readonly part: cloudwatch.IMetric;
  readonly whole: cloudwatch.IMetric;
  /** What counts neither in the part nor in the whole. @default nothing */
  readonly without?: cloudwatch.IMetric;
  /** @default period */
  readonly per?: Duration;
}

/** The part in percent of the whole, and 0 while the part is below a minimum: one of two is not an outage. */
function percentage(
  { part, whole, without, per = period }: Ratio,
  minimum: number,
): cloudwatch.MathExpression {
  const [counted, of] =
    without === undefined ? ['part', 'whole'] : ['(part - without)', '(whole - without)'];
  return new cloudwatch.MathExpression({
    expression: `IF(${counted} >= ${minimum}, 100 * ${counted} / ${of}, 0)`,
    usingMetrics: { part, whole, ...(without !== undefined && { without }) },
    period: per,
  });
}

/** The sum of metrics. Without `FILL`, it would be missing if one of them has no data. */
export function sum(metrics: readonly cloudwatch.IMetric[]): cloudwatch.MathExpression {
  const usingMetrics = named(metrics);
  const terms = Object.keys(usingMetrics).map((id) => `FILL(${id}, 0)`);
  return new cloudwatch.MathExpression({ expression: terms.join(' + '), usingMetrics, period });
}

/** The highest of metrics, each in percent of its limit. */
function highestUse(
  uses: readonly { readonly metric: cloudwatch.IMetric; readonly limit: number }[],
): cloudwatch.MathExpression {
  const usingMetrics = named(uses.map(({ metric }) => metric));
  const terms = uses.map(({ limit }, index) => `100 * FILL(m${index}, 0) / ${limit}`);
  return new cloudwatch.MathExpression({
    expression: `MAX([${terms.join(', ')}])`,
    usingMetrics,
    period,
  });
}

function named(metrics: readonly cloudwatch.IMetric[]): Record<string, cloudwatch.IMetric> {
  return Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
}
