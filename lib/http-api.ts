import { RemovalPolicy } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import * as acm from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as route53 from 'aws-cdk-lib/aws-route53';
import { ApiGatewayv2DomainProperties } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import { consolePath, type Route, type RouteName, routes } from '../contract/wire/routes.ts';
import { acknowledgeRule } from './acknowledged-rule.ts';

/**
 * The only route with detailed metrics: CloudWatch charges for six, 30 cents a month each. The metrics
 * of the other routes' functions are free, and a query counts their responses by status.
 */
const measuredRoute: Route = routes.send;

/** The throttle of a path's preflights. The service worker's events need none. */
const preflightsPerSecond = 500;

/** The console's page and its files, by the ids of their routes. They are no part of the API. */
const consolePaths = {
  'console-page': consolePath,
  'console-file': `${consolePath}/{file}`,
};

/** The throttle of each of the two: a person loads the page and two files. Up to 200 kB each, they are paid for too. */
const consoleRequestsPerSecond = 50;

/**
 * A route's settings, which replace all settings of the stage. The burst is half of the throttle: API Gateway's quota for
 * all APIs of an account in a region is 10,000 requests per second with a burst of 5,000 (2,500 and 1,250 in some
 * regions). With the default of track, the routes, their preflights and the console stay below both, so that a flood
 * on one route leaves capacity for the others.
 */
function settingsOf(perSecond: number, isMeasured: boolean) {
  return {
    DetailedMetricsEnabled: isMeasured,
    ThrottlingRateLimit: perSecond,
    ThrottlingBurstLimit: Math.ceil(perSecond / 2),
  };
}

/**
 * A line of the access log: values without names, because every byte is paid for with each request. The route, not
 * the path: the ids in a path are enough to send beacons, and the query of unsubscribe contains an endpoint. No
 * caller address, because API Gateway cannot shorten it. The functions log the caller's network under the same
 * request id.
 */
export const accessLog = {
  format:
    '$context.requestId $context.status $context.responseLatency $context.error.responseType [$context.routeKey] $context.integration.error',
  /** Their names in queries. */
  fields: ['request_id', 'status', 'ms', 'error', 'route', 'integration_error'],
} as const;

export interface HttpApiProps {
  readonly service: string;
  readonly functions: Readonly<Record<RouteName, lambda.IFunction>>;
  /** The function that serves the console. Undefined: the API has none. */
  readonly console: lambda.IFunction | undefined;
  /**
   * The throttle of track. The default is a quarter of the default pace, 20,000 pushes per second: of a broadcast
   * that every fourth browser shows at once. One event counter takes 1,000 events per second.
   */
  readonly eventsPerSecond: number;
  /** For which the access log is kept: a period of CloudWatch Logs. */
  readonly logDays: logs.RetentionDays;
  /** Replaces the address that API Gateway assigns, which is then disabled. */
  readonly customDomain: CustomDomain | undefined;
}

/**
 * Connects the routes of the contract to their functions, which also respond to preflights. API
 * Gateway would respond to preflights of all routes, but send must not allow any.
 */
export class HttpApi extends Construct {
  /** The service's base address, without a trailing slash. */
  readonly url: string;
  readonly accessLog: logs.LogGroup;
  /** The sum of the throttles of all routes and preflights. */
  readonly requestsPerSecond: number;
  readonly api: apigateway.HttpApi;
  private readonly stage: apigateway.HttpStage;

  constructor(scope: Construct, id: string, props: HttpApiProps) {
    super(scope, id);
    const api = new apigateway.HttpApi(this, 'Api', {
      // Only a label in the console. It need not be unique, and has at most 128 characters.
      apiName: props.service.slice(0, 128),
      createDefaultStage: false,
      disableExecuteApiEndpoint: props.customDomain !== undefined,
    });
    this.api = api;
    this.url = props.customDomain?.url ?? api.apiEndpoint;
    this.accessLog = new logs.LogGroup(this, 'AccessLog', {
      // Under `/aws/vendedlogs/`, AWS allows API Gateway to write to all groups at once. Each other group lengthens the
      // account's resource policy, up to its maximum: then the deployment fails. An API's id is never used again.
      logGroupName: `/aws/vendedlogs/carillon/${props.service}/${api.apiId}`,
      retention: props.logDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.stage = new apigateway.HttpStage(this, 'Stage', {
      httpApi: api,
      stageName: '$default',
      autoDeploy: true,
      ...(props.customDomain && { domainMapping: { domainName: props.customDomain.domain } }),
      accessLogSettings: {
        destination: new apigateway.LogGroupLogDestination(this.accessLog),
        format: AccessLogFormat.custom(accessLog.format),
      },
    });

    const routeSettings: Record<string, object> = {};
    let requestsPerSecond = 0;
    for (const route of Object.values<Route>(routes)) {
      const integration = new HttpLambdaIntegration(route.name, props.functions[route.name]);
      const own = route.throttle === 'eventsPerSecond' ? props.eventsPerSecond : route.throttle;
      for (const method of route.answersPreflight ? [route.method, 'OPTIONS'] : [route.method]) {
        const key = apigateway.HttpRouteKey.with(route.path, method as apigateway.HttpMethod);
        this.addRoute(api, key, integration, `${route.name}-${method}`);
        const perSecond = method === 'OPTIONS' ? preflightsPerSecond : own;
        requestsPerSecond += perSecond;
        const isMeasured = route === measuredRoute && method === route.method;
        routeSettings[key.key] = settingsOf(perSecond, isMeasured);
      }
    }
    if (props.console !== undefined) {
      const integration = new HttpLambdaIntegration('console', props.console);
      for (const [id, path] of Object.entries(consolePaths)) {
        const key = apigateway.HttpRouteKey.with(path, apigateway.HttpMethod.GET);
        this.addRoute(api, key, integration, id);
        requestsPerSecond += consoleRequestsPerSecond;
        routeSettings[key.key] = settingsOf(consoleRequestsPerSecond, false);
      }
    }
    (this.stage.node.defaultChild as apigateway.CfnStage).routeSettings = routeSettings;
    this.requestsPerSecond = requestsPerSecond;
  }

  /** A metric of all routes: `Count`, `4xx`, `5xx` or `Latency` (ms). @param dimensions of some of them only. */
  metric(
    metricName: string,
    statistic: string,
    dimensions: Readonly<Record<string, string>> = {},
  ): cloudwatch.Metric {
    return new cloudwatch.Metric({
      namespace: 'AWS/ApiGateway',
      metricName,
      statistic,
      dimensionsMap: {
        ApiId: this.stage.api.apiId,
        Stage: this.stage.stageName,
        ...dimensions,
      },
      label: statistic.startsWith('p') ? statistic : metricName,
    });
  }

  /** A metric of the requests to send. */
  sendMetric(metricName: string, statistic: string): cloudwatch.Metric {
    const { method, path } = measuredRoute;
    return this.metric(metricName, statistic, { Method: method, Resource: path });
  }

  private addRoute(
    api: apigateway.HttpApi,
    routeKey: apigateway.HttpRouteKey,
    integration: HttpLambdaIntegration,
    id: string,
  ): void {
    const route = new apigateway.HttpRoute(this, id, { httpApi: api, routeKey, integration });
    acknowledgeRule(route, {
      id: 'AwsSolutions-APIG4',
      reason:
        'Browsers call without credentials. The functions for owners check the key, which depends on the project.',
    });
    // The stage's settings refer to the route, so the route must exist first.
    this.stage.node.addDependency(route);
  }
}

export interface CustomDomainProps {
  readonly domainName: string;
  readonly certificateArn: string;
  /** Where the records are created; undefined if the operator creates one. */
  readonly hostedZoneId: string | undefined;
}

/** A domain of the operator for the API, and its records in Route 53. */
export class CustomDomain extends Construct {
  /** Address of the API, without a trailing slash. */
  readonly url: string;
  readonly domain: apigateway.DomainName;

  constructor(scope: Construct, id: string, props: CustomDomainProps) {
    super(scope, id);
    const { domainName, certificateArn, hostedZoneId } = props;
    this.url = `https://${domainName}`;
    this.domain = new apigateway.DomainName(this, 'Domain', {
      domainName,
      certificate: acm.Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
      ipAddressType: apigateway.IpAddressType.DUAL_STACK,
    });
    if (hostedZoneId === undefined) return;
    const { regionalDomainName, regionalHostedZoneId } = this.domain;
    const record = {
      zone: route53.HostedZone.fromHostedZoneId(this, 'Zone', hostedZoneId),
      // With the dot, it need not be known whether the zone is a part of it.
      recordName: `${domainName}.`,
      target: route53.RecordTarget.fromAlias(
        new ApiGatewayv2DomainProperties(regionalDomainName, regionalHostedZoneId),
      ),
    };
    new route53.ARecord(this, 'Record', record);
    new route53.AaaaRecord(this, 'Ipv6Record', record);
  }
}
