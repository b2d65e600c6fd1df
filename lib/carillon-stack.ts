import { CfnOutput, Duration, Stack, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { DeployedSettings, EnvironmentName } from '../contract/environment.ts';
import type { Quotas } from '../contract/quotas.ts';
import { type RouteName, routes } from '../contract/routes.ts';
import { stackNameOf } from '../contract/stack-name.ts';
import { sendTimeline } from '../contract/timeline.ts';
import { Alarms } from './alarms/alarms.ts';
import { Budget, stageTag } from './budget.ts';
import { CustomDomain } from './custom-domain.ts';
import { Dashboard } from './dashboard.ts';
import { DeliverFunction } from './deliver-function.ts';
import { HttpApi } from './http-api.ts';
import { LogQueries } from './log-queries.ts';
import { PushMetrics } from './push-metrics.ts';
import { ServiceFunction, type ServiceFunctionProps } from './service-function.ts';
import type { Settings } from './settings.ts';
import { DeliveriesTable } from './tables/deliveries-table.ts';
import { KeysTable } from './tables/keys-table.ts';
import { NotificationsTable } from './tables/notifications-table.ts';
import { ProjectsTable } from './tables/projects-table.ts';
import { RateLimitsTable } from './tables/rate-limits-table.ts';
import { SubscriptionsTable } from './tables/subscriptions-table.ts';
import { UsageTable } from './tables/usage-table.ts';

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

    const projects = new ProjectsTable(this, 'Projects', { disposable });
    const keysTable = (id: string, variable: EnvironmentName) =>
      new KeysTable(this, id, { disposable, variable });
    const vapidKeys = keysTable('VapidKeys', 'VAPID_KEYS_TABLE');
    const identityKeys = keysTable('IdentityKeys', 'IDENTITY_KEYS_TABLE');
    const subscriptions = new SubscriptionsTable(this, 'Subscriptions', { disposable });
    const usage = new UsageTable(this, 'Usage', { disposable });
    const notifications = new NotificationsTable(this, 'Notifications', { disposable });
    // Each event is a write to both.
    const { warmWritesPerSecond } = settings;
    const deliveries = new DeliveriesTable(this, 'Deliveries', { disposable, warmWritesPerSecond });
    const rateLimits = new RateLimitsTable(this, 'RateLimits', { disposable, warmWritesPerSecond });

    const endpoints = this.endpoints({ root, disposable });
    const { subscribe, unsubscribe, send, getNotification, stopNotification } = endpoints;
    const { listNotifications, getProject, getUser, removeUser, track } = endpoints;
    const deliver = new DeliverFunction(this, 'Deliver', { root, disposable });

    const values = settingValues(settings);
    for (const fn of Object.values(endpoints)) {
      projects.grantLookup(fn);
      rateLimits.grantCount(fn);
      fn.addEnvironment('ORIGIN_SECRET_HASHES', settings.originSecretHashes.join(','));
      fn.addEnvironment('REQUIRE_ORIGIN_SECRET', String(settings.requireOriginSecret));
      fn.addEnvironment('RATE_LIMIT_PER_MINUTE', values.RATE_LIMIT_PER_MINUTE);
    }

    subscriptions.grantSave(subscribe);
    identityKeys.grantUse(subscribe);
    usage.grantCount(subscribe);
    usage.grantRead(subscribe);
    subscribe.addEnvironment('SUBSCRIBER_CAP', values.SUBSCRIBER_CAP);
    subscribe.addEnvironment('EXTRA_PUSH_ORIGINS', values.EXTRA_PUSH_ORIGINS);

    subscriptions.grantRemove(unsubscribe);
    usage.grantCount(unsubscribe);

    notifications.grantRecord(send);
    usage.grantCheckProject(send);
    usage.grantRead(send);
    deliver.grantInvocation(send);
    send.addEnvironment('MONTHLY_SEND_CAP', values.MONTHLY_SEND_CAP);
    send.addEnvironment('PUSHES_PER_SECOND', String(settings.pushesPerSecond));

    projects.grantLookup(deliver);

    const pushes = new PushMetrics(this, 'Pushes');
    for (const pushing of [send, deliver]) {
      subscriptions.grantAudience(pushing);
      subscriptions.grantRemove(pushing);
      subscriptions.grantCorrectPair(pushing);
      usage.grantCount(pushing);
      deliveries.grantDeliver(pushing);
      vapidKeys.grantUse(pushing);
      pushes.addReporter(pushing);
      pushing.addEnvironment('VAPID_SUBJECT', values.VAPID_SUBJECT);
      pushing.addEnvironment('EXTRA_PUSH_ORIGINS', values.EXTRA_PUSH_ORIGINS);
      pushing.addEnvironment('PREFER_IPV6', String(settings.preferIpv6));
    }

    usage.grantRead(getProject);
    subscriptions.grantSample(getProject);
    getProject.addEnvironment('SUBSCRIBER_CAP', values.SUBSCRIBER_CAP);
    getProject.addEnvironment('MONTHLY_SEND_CAP', values.MONTHLY_SEND_CAP);

    for (const one of [getNotification, stopNotification]) notifications.grantRead(one);
    notifications.grantList(listNotifications);
    for (const reading of [getNotification, listNotifications]) deliveries.grantRead(reading);
    deliveries.grantStop(stopNotification);

    subscriptions.grantFindUser(getUser);
    subscriptions.grantFindUser(removeUser);
    subscriptions.grantRemove(removeUser);
    usage.grantCount(removeUser);

    deliveries.grantCount(track);
    pushes.countEvents(track);
    pushes.countRefusals(subscribe);
    const counting = [send, deliver, getNotification, listNotifications, stopNotification];
    pushes.countDisagreements([...counting, getProject]);

    const customDomain = this.customDomain(settings);
    const api = new HttpApi(this, 'HttpApi', {
      functions: endpoints,
      eventsPerSecond: settings.eventsPerSecond,
      customDomain,
      disposable,
    });
    const baseUrl = settings.publicBaseUrl ?? api.url;
    send.addEnvironment('PUBLIC_BASE_URL', baseUrl);
    const tables = {
      projects,
      vapidKeys,
      identityKeys,
      subscriptions,
      usage,
      notifications,
      deliveries,
      rateLimits,
    };
    const functions = [...Object.values(endpoints), deliver];
    const { all: alarms } = new Alarms(this, 'Alarms', {
      ...{ settings, api, pushes, tables, endpoints, deliver },
    });
    new Dashboard(this, 'Dashboard', {
      ...{ alarms, api, send, deliver, pushes, usage },
      tables: Object.values(tables),
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
    new CfnOutput(this, 'Settings', { value: JSON.stringify(values) });
    const quotas: Quotas = {
      executions: settings.accountConcurrency,
      requestsPerSecond: api.requestsPerSecond,
    };
    new CfnOutput(this, 'Quotas', { value: JSON.stringify(quotas) });
    new CfnOutput(this, 'ProjectsTable', { value: projects.tableName });
    new CfnOutput(this, 'VapidKeysTable', { value: vapidKeys.tableName });
    new CfnOutput(this, 'IdentityKeysTable', { value: identityKeys.tableName });
    new CfnOutput(this, 'SubscriptionsTable', { value: subscriptions.tableName });
    new CfnOutput(this, 'UsageTable', { value: usage.tableName });
    new CfnOutput(this, 'NotificationsTable', { value: notifications.tableName });
    new CfnOutput(this, 'DeliveriesTable', { value: deliveries.tableName });
    new CfnOutput(this, 'RateLimitsTable', { value: rateLimits.tableName });
  }

  /** The function of each route. */
  private endpoints(every: { readonly root: string; readonly disposable: boolean }) {
    // Enough for a few calls to DynamoDB. The memory sets the CPU share, which a cold start needs.
    // The timeout leaves time for the SDK's retries.
    const small = { memorySize: 512, timeout: Duration.seconds(10) };
    const others: Partial<Record<RouteName, Partial<ServiceFunctionProps>>> = {
      // Nobody waits for its response, and it mostly waits for DynamoDB itself: half the memory makes its
      // time a third cheaper.
      track: { memorySize: 256 },
      // Encryption uses one thread, so one vCPU: 1,769 MB. API Gateway times out after 30 s.
      send: {
        memorySize: 1769,
        timeout: Duration.millis(sendTimeline.timeoutMs),
        reportsInvocations: true,
      },
    };
    const functions = Object.values(routes).map(({ name }) => {
      const id = name[0]!.toUpperCase() + name.slice(1);
      const props = { ...every, ...small, ...others[name], name };
      return [name, new ServiceFunction(this, id, props)];
    });
    return Object.fromEntries(functions) as Readonly<Record<RouteName, ServiceFunction>>;
  }

  private customDomain({ domainName, certificateArn, hostedZoneId }: Settings) {
    if (domainName === undefined || certificateArn === undefined) return undefined;
    return new CustomDomain(this, 'CustomDomain', { domainName, certificateArn, hostedZoneId });
  }
}

/** The settings as the functions and the operator's command read them. */
function settingValues(settings: Settings): Record<keyof DeployedSettings, string> {
  return {
    SUBSCRIBER_CAP: String(settings.subscriberCap),
    MONTHLY_SEND_CAP: String(settings.monthlySendCap),
    RATE_LIMIT_PER_MINUTE: String(settings.rateLimitPerMinute),
    VAPID_SUBJECT: settings.vapidSubject,
    EXTRA_PUSH_ORIGINS: settings.extraPushOrigins.join(','),
  };
}
