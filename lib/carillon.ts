import { CfnOutput, Stack, Tags } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { Quotas } from '../contract/aws-quotas.ts';
import type { DeployedSettings } from '../contract/environment.ts';
import type { OtherVariable } from '../contract/function-facts.ts';
import { type RouteName, routes } from '../contract/routes.ts';
import { locateService } from '../contract/stack-name.ts';
import { outputOf, type TableName, tableNames } from '../contract/tables.ts';
import { byUserIndex } from '../lambdas/store/items.ts';
import { Alarms } from './alarms.ts';
import { Budget, serviceTag } from './budget.ts';
import { Dashboard } from './dashboard.ts';
import { CustomDomain, HttpApi } from './http-api.ts';
import { LogQueries } from './log-queries.ts';
import { PushMetrics } from './push-metrics.ts';
import { DeliverFunction, ServiceFunction } from './service-function.ts';
import { serviceTables } from './service-table.ts';
import { readSettings, type Settings, SettingsError } from './settings.ts';

/** The settings of a service. A count is a whole number from 1 to 999,999,999. */
export interface CarillonProps {
  /**
   * Where push services can reach you: an e-mail address, or an https URL (RFC 8292, section 2.1). At most 261
   * characters.
   */
  readonly vapidSubject: string;
  /**
   * Whether this is for development: tables and logs are deleted with the stack, and no warning says that alarms notify
   * nobody.
   * @default false
   */
  readonly disposable?: boolean;
  /**
   * Most subscribers of a project, unless the operator gives it another limit.
   * @default 100000
   */
  readonly subscriberCap?: number;
  /**
   * Most notifications of a project in a month of UTC, unless the operator gives it another limit.
   * @default 10000
   */
  readonly monthlySendCap?: number;
  /**
   * Requests per minute by address, project and route, unless the operator gives a project another limit.
   * @default 60
   */
  readonly rateLimitPerMinute?: number;
  /**
   * Pushes per second of one notification.
   * @default 20000
   */
  readonly pushesPerSecond?: number;
  /**
   * Origins of further push services, with scheme and port. At most 2,000 characters together.
   * @default - the push services of the known browsers
   */
  readonly extraPushOrigins?: readonly string[];
  /**
   * Whether to connect to push services over IPv6 if they support it.
   * @default false
   */
  readonly preferIpv6?: boolean;
  /**
   * Whether the console is served at the API's address.
   * @default true
   */
  readonly console?: boolean;
  /**
   * Address that alarms notify, which AWS asks to confirm, or `none`.
   * @default - alarms notify nobody, with a warning at synthesis
   */
  readonly alarmEmail?: string;
  /**
   * ARN of an SNS topic in the stack's region that alarms publish to, in place of `alarmEmail`.
   * @default - a topic for `alarmEmail`
   */
  readonly alarmTopicArn?: string;
  /**
   * Dollars a month, a count: at 80 and 100 % of it AWS notifies `alarmEmail`.
   * @default - no budget
   */
  readonly monthlyBudget?: number;
  /**
   * The https address of docs/runbook.md. Every alarm links to a section of it.
   * @default - alarms name the section
   */
  readonly runbookUrl?: string;
  /**
   * The API's own domain, in lower case. Needs `certificateArn`.
   * @default - an address that API Gateway assigns
   */
  readonly domainName?: string;
  /**
   * ARN of a certificate for `domainName` in the stack's region.
   * @default - none
   */
  readonly certificateArn?: string;
  /**
   * Id of the zone of Route 53 in which the record for `domainName` is created.
   * @default - you create the record: the output `DomainTarget` has its value
   */
  readonly hostedZoneId?: string;
  /**
   * The https address of a proxy in front of the API, without a path.
   * @default - the API's own address
   */
  readonly publicBaseUrl?: string;
  /**
   * SHA-256 in hex of the secret that the proxy sends. During a rotation of two: at most two.
   * @default - no secret is checked
   */
  readonly originSecretHashes?: readonly string[];
  /**
   * Whether requests without that secret are refused. Needs `originSecretHashes`.
   * @default false
   */
  readonly requireOriginSecret?: boolean;
  /**
   * Executions at a time that AWS allows the account in the stack's region.
   * @default 1000
   */
  readonly accountConcurrency?: number;
  /**
   * Events per second that API Gateway accepts from all browsers.
   * @default 5000
   */
  readonly eventsPerSecond?: number;
  /**
   * Write capacity, in units per second, at which the event tables start. At least 4,000. It can only be raised.
   * @default - 4,000, as every new table
   */
  readonly warmWritesPerSecond?: number;
}

/**
 * A web-push service: tables, functions, API, alarms and dashboard. Nothing has a physical name, so an account, and a
 * stack, can have several. Their outputs start with the construct's id; the operator's command finds them as
 * `--stack <name of the stack>/<id>`.
 */
export class Carillon extends Construct {
  /** Address of the API, without a trailing slash. */
  readonly apiUrl: string;
  /** Where alarms publish to. Undefined if they notify nobody. */
  readonly alarmTopic: sns.ITopic | undefined;
  readonly tables: Readonly<Record<TableName, dynamodb.ITable>>;

  /** @throws {Error} naming each prop that is invalid. */
  constructor(scope: Construct, id: string, props: CarillonProps) {
    super(scope, id);
    const { disposable = false } = props;
    const settings = this.checked(props);
    const { service, prefix } = this.located();
    Tags.of(this).add(serviceTag, service);

    const { warmWritesPerSecond } = settings;
    const tables = serviceTables(this, { disposable, warmWritesPerSecond });
    const endpoints = Object.fromEntries(
      Object.values(routes).map(({ name }) => [
        name,
        new ServiceFunction(this, { name, disposable }),
      ]),
    ) as Readonly<Record<RouteName, ServiceFunction>>;
    const deliver = new DeliverFunction(this, { disposable });
    const page = settings.console
      ? new ServiceFunction(this, { name: 'console', disposable })
      : undefined;
    const delivering = [...Object.values(endpoints), deliver];
    const functions = page === undefined ? delivering : [...delivering, page];
    const { send } = endpoints;
    deliver.grantInvocation(send);

    const pushes = new PushMetrics(this, 'Pushes', service);
    for (const pushing of [send, deliver]) pushes.addReporter(pushing);
    pushes.countEvents(endpoints.track);
    pushes.countRefusals(endpoints.subscribe);
    pushes.countDisagreements(delivering);

    const customDomain = this.customDomain(settings);
    const api = new HttpApi(this, 'HttpApi', {
      service,
      functions: endpoints,
      console: page,
      eventsPerSecond: settings.eventsPerSecond,
      customDomain,
    });
    const baseUrl = settings.publicBaseUrl ?? api.url;
    const { region, urlSuffix } = Stack.of(this);
    const values: Record<OtherVariable, string> = {
      ...settingValues(settings),
      DELIVER_FUNCTION: deliver.functionName,
      AWS_ENDPOINT_URL_LAMBDA: `https://lambda.${region}.${urlSuffix}`,
      PUBLIC_BASE_URL: baseUrl,
    };
    for (const fn of functions) {
      for (const table of tableNames) tables[table].grant(fn, fn.facts.tables[table]);
      for (const name of fn.facts.variables) fn.addEnvironment(name, values[name]);
    }
    const { all: alarms, topic } = new Alarms(this, 'Alarms', {
      ...{ settings, api, pushes, tables, endpoints, deliver },
    });
    new Dashboard(this, 'Dashboard', {
      ...{ alarms, api, send, deliver, pushes, tables },
    });
    const { alarmEmail: address, monthlyBudget: dollarsPerMonth } = settings;
    if (dollarsPerMonth !== undefined && address !== undefined) {
      new Budget(this, 'MonthlyBudget', { service, dollarsPerMonth, address });
    }
    new LogQueries(this, 'Queries', {
      service,
      pushing: [send.logGroup, deliver.logGroup],
      functions: functions.map(({ logGroup }) => logGroup),
      access: api.accessLog,
    });

    const quotas: Quotas = {
      executions: settings.accountConcurrency,
      requestsPerSecond: api.requestsPerSecond,
    };
    const outputs = {
      ApiUrl: baseUrl,
      ...(settings.publicBaseUrl !== undefined && { OriginUrl: api.url }),
      ...(customDomain && { DomainTarget: customDomain.domain.regionalDomainName }),
      Settings: JSON.stringify(deployedSettings(settings)),
      Quotas: JSON.stringify(quotas),
      ...Object.fromEntries(tableNames.map((name) => [outputOf(name), tables[name].tableName])),
    };
    for (const [name, value] of Object.entries(outputs)) {
      new CfnOutput(this, name, { value }).overrideLogicalId(prefix + name);
    }
    this.apiUrl = baseUrl;
    this.alarmTopic = topic;
    const entries = tableNames.map((name) => [name, tables[name].table]);
    this.tables = Object.fromEntries(entries) as Record<TableName, dynamodb.ITable>;
  }

  /** Allows what the operator's command does, except `doctor`, which asks about more of AWS, and `deploy`. */
  grantManage(grantee: iam.IGrantable): iam.Grant {
    const { subscriptions } = this.tables;
    const arns = Object.values(this.tables).map(({ tableArn }) => tableArn);
    return iam.Grant.addToPrincipal({
      grantee,
      actions: managingActions.map((action) => `dynamodb:${action}`),
      resourceArns: [...arns, `${subscriptions.tableArn}/index/${byUserIndex}`],
    }).combine(
      iam.Grant.addToPrincipal({
        grantee,
        actions: ['cloudformation:DescribeStacks'],
        resourceArns: [Stack.of(this).stackId],
      }),
    );
  }

  private checked({ disposable = false, ...settings }: CarillonProps): Settings {
    try {
      return readSettings({ ...settings, stage: disposable ? 'dev' : 'prod' });
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      throw new SettingsError(`Carillon "${this.node.path}":\n${error.message}`);
    }
  }

  /** The construct `Default` of a stack is named after the stack, as the CDK does. */
  private located(): { readonly service: string; readonly prefix: string } {
    const stack = Stack.of(this);
    const ids = this.node.scopes
      .slice(stack.node.scopes.length)
      .map(({ node }) => node.id.replaceAll(/[^\w.-]/g, ''))
      .filter((id) => id !== 'Default');
    const service = [stack.stackName, ...ids].join('/');
    return { service, prefix: locateService(service).prefix };
  }

  private customDomain({ domainName, certificateArn, hostedZoneId }: Settings) {
    if (domainName === undefined || certificateArn === undefined) return undefined;
    return new CustomDomain(this, 'CustomDomain', { domainName, certificateArn, hostedZoneId });
  }
}

/** Of the operator's command, on the tables. */
const managingActions = [
  ...['GetItem', 'BatchGetItem', 'Query', 'Scan', 'ConditionCheckItem', 'DescribeTable'],
  ...['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'],
];

/** The settings as functions read them. */
function settingValues(settings: Settings) {
  return {
    ...deployedSettings(settings),
    PUSHES_PER_SECOND: String(settings.pushesPerSecond),
    PREFER_IPV6: String(settings.preferIpv6),
    ORIGIN_SECRET_HASHES: settings.originSecretHashes.join(','),
    REQUIRE_ORIGIN_SECRET: String(settings.requireOriginSecret),
  };
}

/** Those that the operator's command reads too. */
function deployedSettings(settings: Settings): Record<keyof DeployedSettings, string> {
  return {
    SUBSCRIBER_CAP: String(settings.subscriberCap),
    MONTHLY_SEND_CAP: String(settings.monthlySendCap),
    RATE_LIMIT_PER_MINUTE: String(settings.rateLimitPerMinute),
    VAPID_SUBJECT: settings.vapidSubject,
    EXTRA_PUSH_ORIGINS: settings.extraPushOrigins.join(','),
  };
}
