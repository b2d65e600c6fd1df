import { CfnOutput, Stack, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { DeployedSettings } from '../contract/environment.ts';
import type { OtherVariable } from '../contract/functions.ts';
import type { Quotas } from '../contract/quotas.ts';
import { type RouteName, routes } from '../contract/routes.ts';
import { stackNameOf } from '../contract/stack-name.ts';
import { outputOf, tableNames } from '../contract/tables.ts';
import { Alarms } from './alarms/alarms.ts';
import { Budget, stageTag } from './budget.ts';
import { consoleFunction } from './console-function.ts';
import { CustomDomain } from './custom-domain.ts';
import { Dashboard } from './dashboard.ts';
import { DeliverFunction } from './deliver-function.ts';
import { HttpApi } from './http-api.ts';
import { LogQueries } from './log-queries.ts';
import { PushMetrics } from './push-metrics.ts';
import { ServiceFunction } from './service-function.ts';
import { serviceTables } from './service-table.ts';
import type { Settings } from './settings.ts';

export interface CarillonStackProps {
  readonly settings: Settings;
  /** The repository's root directory. */
  readonly root: string;
}

/** The service: tables, functions, API, alarms and dashboard. */
export class CarillonStack extends Stack {
  constructor(scope: Construct, { settings, root }: CarillonStackProps) {
    const disposable = settings.stage === 'dev';
    super(scope, stackNameOf(settings.stage), {
      description: 'Carillon, a web-push service',
      terminationProtection: !disposable,
    });
    Tags.of(this).add(stageTag, settings.stage);

    const { warmWritesPerSecond } = settings;
    const every = { root, disposable };
    const tables = serviceTables(this, { disposable, warmWritesPerSecond });
    const endpoints = Object.fromEntries(
      Object.values(routes).map(({ name }) => [
        name,
        new ServiceFunction(this, { ...every, name }),
      ]),
    ) as Readonly<Record<RouteName, ServiceFunction>>;
    const deliver = new DeliverFunction(this, every);
    const page = settings.console ? consoleFunction(this, every) : undefined;
    const delivering = [...Object.values(endpoints), deliver];
    const functions = page === undefined ? delivering : [...delivering, page];
    const { send } = endpoints;
    deliver.grantInvocation(send);

    const pushes = new PushMetrics(this, 'Pushes');
    for (const pushing of [send, deliver]) pushes.addReporter(pushing);
    pushes.countEvents(endpoints.track);
    pushes.countRefusals(endpoints.subscribe);
    pushes.countDisagreements(delivering);

    const customDomain = this.customDomain(settings);
    const api = new HttpApi(this, 'HttpApi', {
      functions: endpoints,
      console: page,
      eventsPerSecond: settings.eventsPerSecond,
      customDomain,
      disposable,
    });
    const baseUrl = settings.publicBaseUrl ?? api.url;
    const values: Record<OtherVariable, string> = {
      ...settingValues(settings),
      DELIVER_FUNCTION: deliver.functionName,
      AWS_ENDPOINT_URL_LAMBDA: `https://lambda.${this.region}.${this.urlSuffix}`,
      PUBLIC_BASE_URL: baseUrl,
    };
    for (const fn of functions) {
      for (const table of tableNames) tables[table].grant(fn, fn.facts.tables[table]);
      for (const name of fn.facts.variables) fn.addEnvironment(name, values[name]);
    }
    const { all: alarms } = new Alarms(this, 'Alarms', {
      ...{ settings, api, pushes, tables, endpoints, deliver },
    });
    new Dashboard(this, 'Dashboard', {
      ...{ alarms, api, send, deliver, pushes, tables },
    });
    const { stage, alarmEmail: address, monthlyBudget: dollarsPerMonth } = settings;
    if (dollarsPerMonth !== undefined && address !== undefined) {
      new Budget(this, 'MonthlyBudget', { stage, dollarsPerMonth, address });
    }
    new LogQueries(this, 'Queries', {
      pushing: [send.logGroup, deliver.logGroup],
      functions: functions.map(({ logGroup }) => logGroup),
      access: api.accessLog,
    });

    new CfnOutput(this, 'ApiUrl', { value: baseUrl });
    if (settings.publicBaseUrl !== undefined) new CfnOutput(this, 'OriginUrl', { value: api.url });
    if (customDomain !== undefined) {
      new CfnOutput(this, 'DomainTarget', { value: customDomain.domain.regionalDomainName });
    }
    new CfnOutput(this, 'Settings', { value: JSON.stringify(deployedSettings(settings)) });
    const quotas: Quotas = {
      executions: settings.accountConcurrency,
      requestsPerSecond: api.requestsPerSecond,
    };
    new CfnOutput(this, 'Quotas', { value: JSON.stringify(quotas) });
    for (const table of tableNames) {
      new CfnOutput(this, outputOf(table), { value: tables[table].tableName });
    }
  }

  private customDomain({ domainName, certificateArn, hostedZoneId }: Settings) {
    if (domainName === undefined || certificateArn === undefined) return undefined;
    return new CustomDomain(this, 'CustomDomain', { domainName, certificateArn, hostedZoneId });
  }
}

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
