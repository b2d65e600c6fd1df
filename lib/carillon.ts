import { CfnOutput, Fn, RemovalPolicy, Stack, Tags, Token, Tokenization } from 'aws-cdk-lib';
import type * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import type * as acm from 'aws-cdk-lib/aws-certificatemanager';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as route53 from 'aws-cdk-lib/aws-route53';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { Quotas } from '../contract/infrastructure/aws-quotas.ts';
import type { DeployedSettings } from '../contract/infrastructure/environment.ts';
import {
  outputPrefixOf,
  serviceNameOf,
  serviceTag,
} from '../contract/infrastructure/stack-name.ts';
import { byUser, outputOf, type TableName, tableNames } from '../contract/infrastructure/tables.ts';
import {
  type FunctionName,
  type OtherVariable,
  type RouteName,
  routes,
} from '../contract/wire/routes.ts';
import packageJson from '../package.json' with { type: 'json' };
import { type AlarmName, Alarms } from './alarms.ts';
import { Budget } from './budget.ts';
import { Dashboard } from './dashboard.ts';
import { CustomDomain, HttpApi } from './http-api.ts';
import { LogQueries } from './log-queries.ts';
import { PushMetrics } from './push-metrics.ts';
import { DeliverFunction, type Network, ServiceFunction } from './service-function.ts';
import { serviceTables } from './service-table.ts';
import { readSettings, type Settings, SettingsError } from './settings.ts';

/**
 * The settings of a service. A count is a whole number from 1 to 999,999,999. Texts, lists and counts may refer to other
 * resources of the app, except `accountConcurrency`, `eventsPerSecond` and days.
 */
export interface CarillonProps {
  /**
   * Where push services can reach you: an e-mail address, or an https URL (RFC 8292, section 2.1). At most 261
   * characters. In the settings of the stage `dev` it may be left out. A reference must resolve to an address with
   * `mailto:`, or to a URL.
   */
  readonly vapidSubject: string;
  /**
   * Whether this is for development: tables and logs are deleted with the stack, and no warning says that alarms notify
   * nobody.
   * @default false
   */
  readonly disposable?: boolean | undefined;
  /**
   * What becomes of tables and of the functions' logs when they leave the stack.
   * @default RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE, or DESTROY if `disposable`
   */
  readonly removalPolicy?: RemovalPolicy | undefined;
  /**
   * The network in which the functions run. They need DynamoDB, Lambda and the push services in the internet.
   * @default - no network of yours
   */
  readonly vpc?: ec2.IVpc | undefined;
  /**
   * The subnets of `vpc` in which the functions run.
   * @default - its private subnets
   */
  readonly vpcSubnets?: ec2.SubnetSelection | undefined;
  /**
   * Security groups of the functions.
   * @default - one for all, which allows everything outbound
   */
  readonly securityGroups?: readonly ec2.ISecurityGroup[] | undefined;
  /**
   * Most subscribers of a project, unless the operator gives it another limit.
   * @default 100000
   */
  readonly subscriberCap?: number | undefined;
  /**
   * Most notifications of a project in a month of UTC, unless the operator gives it another limit.
   * @default 10000
   */
  readonly monthlySendCap?: number | undefined;
  /**
   * Requests per minute by address, project and route, unless the operator gives a project another limit.
   * @default 60
   */
  readonly rateLimitPerMinute?: number | undefined;
  /**
   * Days for which a notification, with its counts, is kept, and events of it are counted: 1 to 90. What was sent before
   * a change keeps its period.
   * @default 90
   */
  readonly notificationDays?: number | undefined;
  /**
   * Days for which logs are kept, a period of CloudWatch: 1, 3, 5, 7, 14, 30, 60, 90 … A change holds for stored logs
   * too: CloudWatch deletes them within three days.
   * @default 30
   */
  readonly logDays?: number | undefined;
  /**
   * Days to which the tables can be restored: 1 to 35. A change holds at once, and costs the same.
   * @default 35
   */
  readonly recoveryDays?: number | undefined;
  /**
   * ARN of a symmetric KMS key of yours, in the stack's account and region, that encrypts the tables. Its policy must allow
   * it: the command `deploy` checks that, and prints the statement that it needs. Without the key nobody can read the
   * tables, nor restore them.
   * @default - a key of AWS
   */
  readonly encryptionKeyArn?: string | undefined;
  /**
   * Pushes per second of one notification; more if a delivery would otherwise take over 30 minutes.
   * @default 20000
   */
  readonly pushesPerSecond?: number | undefined;
  /**
   * Origins of further push services, with scheme and port. At most 2,000 characters together.
   * @default - the push services of the known browsers
   */
  readonly extraPushOrigins?: readonly string[] | undefined;
  /**
   * Whether to connect to push services over IPv6 if they support it: for a `vpc` with dual-stack subnets.
   * @default false
   */
  readonly preferIpv6?: boolean | undefined;
  /**
   * Whether the console is served at the API's address.
   * @default true
   */
  readonly console?: boolean | undefined;
  /**
   * Address that alarms notify, which AWS asks to confirm, or `none`.
   * @default - alarms notify nobody, with a warning at synthesis
   */
  readonly alarmEmail?: string | undefined;
  /**
   * The topic that alarms publish to, in place of `alarmEmail`.
   * @default - a topic for `alarmEmail`
   */
  readonly alarmTopic?: sns.ITopic | undefined;
  /** ARN of an SNS topic in the stack's region, in place of `alarmEmail` and `alarmTopic`. */
  readonly alarmTopicArn?: string | undefined;
  /**
   * Dollars a month, a count: at 80 and 100 % of it AWS notifies `alarmEmail`.
   * @default - no budget
   */
  readonly monthlyBudget?: number | undefined;
  /**
   * The https address of docs/runbook.md. Every alarm links to a section of it.
   * @default - alarms name the section
   */
  readonly runbookUrl?: string | undefined;
  /**
   * The API's own domain, in lower case. Needs a certificate.
   * @default - an address that API Gateway assigns
   */
  readonly domainName?: string | undefined;
  /** A certificate for `domainName` in the stack's region. */
  readonly certificate?: acm.ICertificate | undefined;
  /** ARN of a certificate for `domainName` in the stack's region, in place of `certificate`. */
  readonly certificateArn?: string | undefined;
  /**
   * The zone of Route 53 in which the records for `domainName` are created.
   * @default - you create a record: its value is `domain.regionalDomainName`
   */
  readonly hostedZone?: route53.IHostedZone | undefined;
  /** Id of the zone of Route 53 in which the records for `domainName` are created, in place of `hostedZone`. */
  readonly hostedZoneId?: string | undefined;
  /**
   * The https address of a proxy in front of the API, without a path.
   * @default - the API's own address
   */
  readonly publicBaseUrl?: string | undefined;
  /**
   * SHA-256 in hex of the secret that the proxy sends. During a rotation of two: at most two.
   * @default - no secret is checked
   */
  readonly originSecretHashes?: readonly string[] | undefined;
  /**
   * Whether requests without that secret are refused. Needs `originSecretHashes`.
   * @default false
   */
  readonly requireOriginSecret?: boolean | undefined;
  /**
   * Executions at a time that AWS allows the account in the stack's region. The command `deploy` reads it from AWS.
   * @default 1000
   */
  readonly accountConcurrency?: number | undefined;
  /**
   * Events per second that API Gateway accepts from all browsers.
   * @default 5000
   */
  readonly eventsPerSecond?: number | undefined;
  /**
   * Write capacity, in units per second, at which the event tables start. At least 4,000. It can only be raised,
   * which AWS charges once.
   * @default - 4,000, as every new table
   */
  readonly warmWritesPerSecond?: number | undefined;
  /**
   * Whether the stack gets the outputs from which the operator's command reads where the service is.
   * @default false
   */
  readonly exportOutputs?: boolean | undefined;
}

/**
 * A web-push service: tables, functions, API, alarms and dashboard. Nothing has a physical name, so an account, and a
 * stack, can have several. The operator's command finds it as `--stack <name of the stack>/<id>`, if it has outputs.
 */
export class Carillon extends Construct {
  /** Address of the service for browsers and servers, without a trailing slash: `publicBaseUrl`, if it is set. */
  readonly apiUrl: string;
  /** Address of the API itself, without a trailing slash: the origin of a proxy in front. */
  readonly originUrl: string;
  readonly api: apigateway.IHttpApi;
  /** The API's own domain, if `domainName` is set: target of a record that you create. */
  readonly domain: apigateway.IDomainName | undefined;
  /** By the names of the routes, `deliver`, and `console` unless it is left out. */
  readonly functions: Readonly<Partial<Record<FunctionName, lambda.Function>>>;
  readonly tables: Readonly<Record<TableName, dynamodb.ITable>>;
  /** By the names that the runbook has. `UsersAffected` is the one that pages people. */
  readonly alarms: Readonly<Record<AlarmName, cloudwatch.AlarmBase>>;
  /** Where alarms publish to. Undefined if they notify nobody. */
  readonly alarmTopic: sns.ITopic | undefined;
  readonly dashboard: cloudwatch.Dashboard;

  /** @throws {Error} naming each prop that is invalid. */
  constructor(scope: Construct, id: string, props: CarillonProps) {
    super(scope, id);
    const settings = this.settingsOf(props);
    const stack = deployedStack(this);
    const ids = this.node.scopes
      .slice(stack.node.scopes.length)
      .map(({ node }) => node.id)
      // The construct `Default` of a stack is named after the stack, as the CDK does.
      .filter((one) => one !== 'Default');
    const service = serviceNameOf([stack.stackName, ...ids]);
    Tags.of(this).add(serviceTag, service);

    const removalPolicy =
      props.removalPolicy ??
      (props.disposable ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    const { warmWritesPerSecond, recoveryDays, logDays, encryptionKeyArn } = settings;
    const tables = serviceTables(this, {
      ...{ removalPolicy, warmWritesPerSecond, recoveryDays },
      encryptionKey:
        encryptionKeyArn === undefined
          ? undefined
          : kms.Key.fromKeyArn(this, 'EncryptionKey', encryptionKeyArn),
    });
    const its = { removalPolicy, logDays, network: this.networkOf(props, settings) };
    const endpoints = Object.fromEntries(
      Object.values(routes).map(({ name }) => [name, new ServiceFunction(this, { name, ...its })]),
    ) as Readonly<Record<RouteName, ServiceFunction>>;
    const deliver = new DeliverFunction(this, its);
    const page = settings.console
      ? new ServiceFunction(this, { name: 'console', ...its })
      : undefined;
    const delivering = [...Object.values(endpoints), deliver];
    const functions = page === undefined ? delivering : [...delivering, page];
    const { send } = endpoints;
    deliver.grantInvocation(send);

    const pushes = new PushMetrics(this, 'Pushes', service);
    for (const pushing of [send, deliver]) pushes.addReporter(pushing);
    pushes.countEvents(endpoints.track);
    pushes.countRefusals('subscribe', endpoints.subscribe);
    pushes.countRefusals('send', send);
    pushes.countDisagreements(delivering);

    const customDomain = this.customDomain(settings);
    const api = new HttpApi(this, 'HttpApi', {
      service,
      functions: endpoints,
      console: page,
      eventsPerSecond: settings.eventsPerSecond,
      logDays,
      customDomain,
    });
    const baseUrl = settings.publicBaseUrl ?? api.url;
    const values: Record<OtherVariable, string> = {
      ...settingValues(settings),
      DELIVER_FUNCTION: deliver.functionName,
      PUBLIC_BASE_URL: baseUrl,
    };
    for (const fn of functions) {
      for (const table of tableNames) tables[table].grant(fn, fn.facts.tables[table]);
      for (const name of fn.facts.variables) fn.addEnvironment(name, values[name]);
    }
    const { alarms, topic } = new Alarms(this, 'Alarms', {
      settings,
      api,
      pushes,
      deliver,
      subscribe: endpoints.subscribe,
      topic: props.alarmTopic,
    });
    const { dashboard } = new Dashboard(this, 'Dashboard', {
      alarms: Object.values(alarms),
      api,
      send,
      deliver,
      pushes,
      tables,
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

    this.apiUrl = baseUrl;
    this.originUrl = api.url;
    this.api = api.api;
    this.domain = customDomain?.domain;
    this.functions = { ...endpoints, deliver, ...(page && { console: page }) };
    const entries = tableNames.map((name) => [name, tables[name].table]);
    this.tables = Object.fromEntries(entries) as Record<TableName, dynamodb.ITable>;
    this.alarms = alarms;
    this.alarmTopic = topic;
    this.dashboard = dashboard;
    if (!props.exportOutputs) return;
    const quotas: Quotas = {
      executions: settings.accountConcurrency,
      requestsPerSecond: api.requestsPerSecond,
    };
    const outputs = {
      ApiUrl: baseUrl,
      ...(settings.publicBaseUrl !== undefined && { OriginUrl: api.url }),
      ...(customDomain && { DomainTarget: customDomain.domain.regionalDomainName }),
      Settings: stack.toJsonString(deployedSettings(settings)),
      Quotas: stack.toJsonString(quotas),
      Version: packageJson.version,
      ...Object.fromEntries(tableNames.map((name) => [outputOf(name), tables[name].tableName])),
    };
    for (const [name, value] of Object.entries(outputs)) {
      new CfnOutput(stack, outputPrefixOf(ids) + name, { value });
    }
  }

  /**
   * Allows what the operator's command does with projects. `deploy` and `doctor` need more, and the command needs
   * `exportOutputs`.
   */
  grantManage(grantee: iam.IGrantable): iam.Grant {
    const { subscriptions } = this.tables;
    const arns = Object.values(this.tables).map(({ tableArn }) => tableArn);
    return iam.Grant.addToPrincipal({
      grantee,
      actions: managingActions.map((action) => `dynamodb:${action}`),
      resourceArns: [...arns, `${subscriptions.tableArn}/index/${byUser.name}`],
    }).combine(
      iam.Grant.addToPrincipal({
        grantee,
        actions: ['cloudformation:DescribeStacks'],
        resourceArns: [deployedStack(this).stackId],
      }),
    );
  }

  /** The props as settings: constructs by their ids. @throws {SettingsError} */
  private settingsOf(props: CarillonProps): Settings {
    // An app in JavaScript may leave them out.
    const {
      disposable = false,
      removalPolicy,
      exportOutputs,
      ...given
    } = props ?? ({} as CarillonProps);
    const { vpc, vpcSubnets, securityGroups, certificate, hostedZone, alarmTopic, ...texts } =
      given;
    const constructs = {
      certificateArn: certificate?.certificateArn,
      hostedZoneId: hostedZone?.hostedZoneId,
      alarmTopicArn: alarmTopic?.topicArn,
    };
    const named = Object.entries(constructs).filter(([, value]) => value !== undefined);
    const twice = named.filter(([name]) => texts[name as keyof typeof constructs] !== undefined);
    const mistakes = twice.map(
      ([name]) => `setting ${name} must be removed: its construct is given`,
    );
    if (vpc === undefined && (vpcSubnets ?? securityGroups) !== undefined) {
      mistakes.push('setting vpc is missing: vpcSubnets and securityGroups need it');
    }
    try {
      if (mistakes.length > 0) throw new SettingsError(mistakes.join('\n'));
      const settings = {
        ...texts,
        ...Object.fromEntries(named),
        extraPushOrigins: joined(texts.extraPushOrigins),
        originSecretHashes: joined(texts.originSecretHashes),
        stage: disposable ? 'dev' : 'prod',
      };
      const { region, account: accountId, partition } = Stack.of(this);
      return readSettings(settings, { region, accountId, partition });
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      throw new SettingsError(`Carillon "${this.node.path}":\n${error.message}`);
    }
  }

  private customDomain({ domainName, certificateArn, hostedZoneId }: Settings) {
    if (domainName === undefined || certificateArn === undefined) return undefined;
    return new CustomDomain(this, 'CustomDomain', { domainName, certificateArn, hostedZoneId });
  }

  private networkOf(
    { vpc, vpcSubnets, securityGroups }: CarillonProps,
    { preferIpv6 }: Settings,
  ): Network | undefined {
    if (vpc === undefined) return undefined;
    const own = () =>
      new ec2.SecurityGroup(this, 'SecurityGroup', {
        vpc,
        description: `Functions of ${this.node.path}`,
        allowAllIpv6Outbound: preferIpv6,
      });
    return {
      vpc,
      ...(vpcSubnets && { vpcSubnets }),
      securityGroups: securityGroups?.length ? [...securityGroups] : [own()],
      ipv6AllowedForDualStack: preferIpv6,
    };
  }
}

/** The stack that somebody deploys. A nested stack is a part of it, and AWS generates its name. */
function deployedStack(construct: Construct): Stack {
  let stack = Stack.of(construct);
  while (stack.nestedStackParent !== undefined) stack = stack.nestedStackParent;
  return stack;
}

/** A list whose entries another resource gives, as a text. */
function joined(list: readonly string[] | undefined): readonly string[] | string | undefined {
  return Token.isUnresolved(list) ? Fn.join(',', [...list!]) : list;
}

/** Actions of the operator's command on the tables. */
const managingActions = [
  ...['GetItem', 'BatchGetItem', 'Query', 'Scan', 'ConditionCheckItem', 'DescribeTable'],
  ...['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'],
];

/** The settings as functions read them. */
function settingValues(settings: Settings) {
  return {
    ...deployedSettings(settings),
    NOTIFICATION_DAYS: String(settings.notificationDays),
    PUSHES_PER_SECOND: Tokenization.stringifyNumber(settings.pushesPerSecond),
    PREFER_IPV6: String(settings.preferIpv6),
    ORIGIN_SECRET_HASHES: settings.originSecretHashes.join(','),
    REQUIRE_ORIGIN_SECRET: String(settings.requireOriginSecret),
  };
}

/** The settings that the operator's command reads too. */
function deployedSettings(settings: Settings): Record<keyof DeployedSettings, string> {
  return {
    SUBSCRIBER_CAP: Tokenization.stringifyNumber(settings.subscriberCap),
    MONTHLY_SEND_CAP: Tokenization.stringifyNumber(settings.monthlySendCap),
    RATE_LIMIT_PER_MINUTE: Tokenization.stringifyNumber(settings.rateLimitPerMinute),
    NOTIFICATION_DAYS: String(settings.notificationDays),
    RECOVERY_DAYS: String(settings.recoveryDays),
    VAPID_SUBJECT: settings.vapidSubject,
    EXTRA_PUSH_ORIGINS: settings.extraPushOrigins.join(','),
  };
}
