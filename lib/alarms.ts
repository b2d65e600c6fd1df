import { Annotations, Aws, Duration, Stack, Token } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { routes } from '../contract/wire/routes.ts';
import type { HttpApi } from './http-api.ts';
import type { PushMetrics } from './push-metrics.ts';
import type { ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';

export interface AlarmsProps {
  readonly settings: Settings;
  /** Where they publish to, if the operator gives a construct. */
  readonly topic: sns.ITopic | undefined;
  readonly api: HttpApi;
  readonly pushes: PushMetrics;
  readonly deliver: ServiceFunction;
  readonly subscribe: ServiceFunction;
}

/**
 * Part of the throttles that requests use up in a flood. A broadcast to a million whose every push is shown within ten
 * minutes uses up a sixth to a quarter of 15 minutes, refused events included.
 */
const floodPart = 0.4;

interface Definition {
  /**
   * `page`: users are affected now, so the alarm is a cause of the composite alarm that pages people.
   * `warning`: it notifies by itself, and can wait until morning.
   * @default warning
   */
  readonly severity?: 'page' | 'warning';
  /** Nobody without a key can lower it: it has no share of requests or pushes that anybody can cause. */
  readonly metric: cloudwatch.IMetric;
  /**
   * Value of the metric from which a period is bad.
   * @default 1
   */
  readonly threshold?: number;
  /** The event, for the operator. */
  readonly description: string;
}

/**
 * The alarms on which somebody acts tonight or this week. An alarm's name is its heading in the runbook, which says what
 * is lost meanwhile. Decision 15 has what shows faults that have no alarm. Each metric
 * costs ten cents a month.
 */
function definitionsFor({ api, pushes, deliver, subscribe, settings }: AlarmsProps) {
  const [hour, day] = [Duration.hours(1), Duration.days(1)];
  const quarter = Duration.minutes(15);
  // Of the requests that were not refused: those need a key.
  const ofSends = {
    failed: api.sendMetric('5xx', 'Sum'),
    all: api.sendMetric('Count', 'Sum'),
    refused: api.sendMetric('4xx', 'Sum'),
  };
  const part = 'failed / (all - refused)';
  return {
    ServerErrors: {
      severity: 'page',
      metric: api.metric('5xx', 'Sum').with({ period: hour }),
      threshold: 10,
      description: 'At least 10 requests of an hour got a 5xx response.',
    },
    // One error is no outage; two may be one request and its repetition.
    SendErrors: {
      severity: 'page',
      metric: math(
        `IF(failed >= 3, 100 * ${part}, IF(failed >= 2, 10 * ${part}, 0))`,
        ofSends,
        hour,
      ),
      threshold: 5,
      description: 'At least 5 % of the sends of an hour, or half of a few, got a 5xx response.',
    },
    // For sites that send a few times a day, and do not repeat a send.
    DailySendErrors: {
      severity: 'page',
      metric: math(`IF(failed >= 2, 100 * ${part}, 0)`, ofSends, day),
      threshold: 50,
      description: 'At least half of the sends of a day got a 5xx response.',
    },
    FailedPushes: {
      severity: 'page',
      metric: pushes.metricOf('failing'),
      threshold: 10,
      description: 'At least a fifth of the pushes to a push service failed.',
    },
    RefusedPushes: {
      severity: 'page',
      metric: pushes.metricOf('refused'),
      description: 'A push service refused all pushes of a project, at least 100 and 5 % of them.',
    },
    FloodOfRequests: {
      severity: 'page',
      metric: api.metric('Count', 'Sum').with({ period: quarter }),
      threshold: floodPart * api.requestsPerSecond * quarter.toSeconds(),
      description: 'Requests of 15 minutes cost as much as those of a flood.',
    },
    // Each costs as much as three other requests.
    FloodOfSubscriptions: {
      severity: 'page',
      metric: subscribe.metricInvocations({ period: quarter }),
      threshold: floodPart * routes.subscribe.throttle * quarter.toSeconds(),
      description: 'Registrations of 15 minutes cost as much as those of a flood.',
    },
    DroppedInvocations: {
      severity: 'page',
      metric: deliver.metric('AsyncEventsDropped', { statistic: 'Sum' }),
      description:
        'Lambda gave up an invocation of the deliver function, after three failures or an hour ' +
        'without free concurrency: part of an audience was not notified.',
    },
    VapidRefusals: {
      metric: pushes.metricOf('vapidRefused'),
      threshold: 10,
      description: 'Push services refuse the VAPID keys or the VAPID subject of a project.',
    },
    UnconfirmedRemovals: {
      metric: pushes.metricOf('unconfirmed'),
      description:
        'A push service says that more than half of its subscriptions are gone. They are kept for a day.',
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
      metric: pushes.refusals('subscribe'),
      description: 'A project has as many subscribers as its cap allows, and refuses new ones.',
    },
    SendsRefused: {
      metric: pushes.refusals('send'),
      description:
        'A project has sent as often as its cap of the month allows, and sends nothing more.',
    },
    CountsDisagree: {
      metric: pushes.disagreements(),
      description: 'Counts of a notification or of a project contradict each other.',
    },
    AccountConcurrency: {
      // It counts all functions in the account and region; it has no dimensions.
      metric: new cloudwatch.Metric({
        namespace: 'AWS/Lambda',
        metricName: 'ClaimedAccountConcurrency',
        statistic: 'Maximum',
      }),
      threshold: 0.8 * settings.accountConcurrency,
      description: 'The account runs nearly as many functions as AWS allows.',
    },
  } satisfies Readonly<Record<string, Definition>>;
}

/** The names of the alarms, which the runbook has as headings. */
export type AlarmName = 'UsersAffected' | keyof ReturnType<typeof definitionsFor>;

/**
 * The alarms of the service. Those with the severity `page` are the causes of one composite alarm,
 * `UsersAffected`, so that people are paged once. The others notify by themselves.
 */
export class Alarms extends Construct {
  /** The composite alarm first. */
  readonly alarms: Readonly<Record<AlarmName, cloudwatch.AlarmBase>>;
  readonly topic: sns.ITopic | undefined;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { settings } = props;
    const definitions = Object.entries<Definition>(definitionsFor(props));
    const alarms = definitions.map(([name, definition]) => ({
      name,
      isPage: definition.severity === 'page',
      alarm: this.alarm(name, definition, described(settings, name, definition)),
    }));
    const pages = alarms.filter(({ isPage }) => isPage).map(({ alarm }) => alarm);
    const usersAffected = new cloudwatch.CompositeAlarm(this, 'UsersAffected', {
      // It needs a name, unlike others, whose ids CloudFormation puts into theirs. Its end is that of this construct: a stack
      // may have several.
      compositeAlarmName: `${Aws.STACK_NAME}-UsersAffected-${this.node.addr.slice(-8)}`,
      alarmRule: cloudwatch.AlarmRule.anyOf(...pages),
      alarmDescription: described(settings, 'UsersAffected', {
        severity: 'page',
        description: 'An alarm with the severity page fires.',
      }),
    });
    this.topic = props.topic ?? alarmTopic(this, settings);
    if (this.topic !== undefined) {
      const action = new SnsAction(this.topic);
      const warnings = alarms.filter(({ isPage }) => !isPage).map(({ alarm }) => alarm);
      for (const alarm of [usersAffected, ...warnings]) alarm.addAlarmAction(action);
    }
    const all = [
      ['UsersAffected', usersAffected],
      ...alarms.map(({ name, alarm }) => [name, alarm]),
    ];
    this.alarms = Object.fromEntries(all) as Record<AlarmName, cloudwatch.AlarmBase>;
  }

  private alarm(id: string, { metric, threshold = 1 }: Definition, alarmDescription: string) {
    return new cloudwatch.Alarm(this, id, {
      metric,
      threshold,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      // No data: nothing happened.
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
      alarmDescription,
    });
  }
}

function math(
  expression: string,
  usingMetrics: Record<string, cloudwatch.IMetric>,
  period: Duration,
): cloudwatch.MathExpression {
  return new cloudwatch.MathExpression({ expression, usingMetrics, period });
}

function described(
  { runbookUrl = 'docs/runbook.md' }: Pick<Settings, 'runbookUrl'>,
  id: string,
  { severity = 'warning', description }: Pick<Definition, 'severity' | 'description'>,
): string {
  return `${description} Severity: ${severity}. Runbook: ${runbookUrl}#${id.toLowerCase()}`;
}

/**
 * The topic of the settings, to which alarms publish.
 * @returns undefined if the operator wants none, or after a warning at synthesis.
 */
function alarmTopic(
  scope: Construct,
  { stage, alarmEmail, alarmTopicArn }: Pick<Settings, 'stage' | 'alarmEmail' | 'alarmTopicArn'>,
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
