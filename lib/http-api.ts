import { Stack, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { type Route, type RouteName, routes } from '../lambdas/contract/routes.ts';
import { alarmOn } from './alarms.ts';
import { logGroup } from './logs.ts';

/**
 * Requests per second of all callers together, and how many may come at once. A preflight shares
 * its route's figures, since a browser sends one before the first request to each URL.
 */
const throttles: Readonly<Record<RouteName, apigateway.ThrottleSettings>> = {
  // A new subscription is a transaction on the project's counter, and one item takes about 500.
  subscribe: { rateLimit: 500, burstLimit: 1000 },
  unsubscribe: { rateLimit: 500, burstLimit: 1000 },
  // Sends that all run to their time-out hold 20 × 29 functions: of the 1,000 that an account may
  // run at once, enough remain for the other routes.
  send: { rateLimit: 20, burstLimit: 40 },
  // The beacons of a broadcast all count on its one item, which takes 1,000 writes a second.
  track: { rateLimit: 1000, burstLimit: 2000 },
};

// Which route, not which path: the ids in a path are enough to report beacons, and the query of
// unsubscribe is an endpoint.
const accessLogLine = {
  requestId: '$context.requestId',
  time: '$context.requestTime',
  ip: '$context.identity.sourceIp',
  route: '$context.routeKey',
  protocol: '$context.protocol',
  status: '$context.status',
  responseLength: '$context.responseLength',
  responseLatency: '$context.responseLatency',
  integrationLatency: '$context.integrationLatency',
  integrationError: '$context.integration.error',
  error: '$context.error.responseType',
};

export interface HttpApiProps {
  readonly functions: Readonly<Record<RouteName, lambda.IFunction>>;
  /** Whether the access log goes when the stack goes. */
  readonly disposable: boolean;
}

/**
 * The routes of the contract, each on its function. Preflights go to the functions as well: were
 * the gateway to answer them, it would do so for every route, and send must answer none.
 */
export class HttpApi extends Construct {
  /** The service's base address, without a slash at its end. */
  readonly url: string;
  private readonly stage: apigateway.HttpStage;

  constructor(scope: Construct, id: string, props: HttpApiProps) {
    super(scope, id);
    const api = new apigateway.HttpApi(this, 'Api', {
      // A label in the console: names of APIs need not differ.
      apiName: Stack.of(this).stackName,
      createDefaultStage: false,
    });
    this.url = api.apiEndpoint;
    this.stage = new apigateway.HttpStage(this, 'Stage', {
      httpApi: api,
      stageName: '$default',
      autoDeploy: true,
      detailedMetricsEnabled: true,
      accessLogSettings: {
        destination: new apigateway.LogGroupLogDestination(
          logGroup(this, 'AccessLog', props.disposable),
        ),
        format: AccessLogFormat.custom(JSON.stringify(accessLogLine)),
      },
    });

    const routeSettings: Record<string, object> = {};
    for (const route of Object.values<Route>(routes)) {
      const integration = new HttpLambdaIntegration(route.name, props.functions[route.name]);
      for (const method of route.answersPreflight ? [route.method, 'OPTIONS'] : [route.method]) {
        const key = apigateway.HttpRouteKey.with(route.path, method as apigateway.HttpMethod);
        this.addRoute(api, key, integration, `${route.name}-${method}`);
        routeSettings[key.key] = {
          // Settings of a route replace the stage's as a whole.
          DetailedMetricsEnabled: true,
          ThrottlingRateLimit: throttles[route.name].rateLimit,
          ThrottlingBurstLimit: throttles[route.name].burstLimit,
        };
      }
    }
    (this.stage.node.defaultChild as apigateway.CfnStage).routeSettings = routeSettings;

    alarmOn(this, 'ServerErrors', {
      metric: this.stage.metricServerError({ statistic: 'Sum' }),
      description: 'Callers got answers of 5xx; the functions’ logs have them under their request.',
      threshold: 5,
    });
  }

  /** A metric of one route: `Count`, `4xx`, `5xx` or `Latency` (ms). */
  metricOf(route: Route, metricName: string, statistic: string): cloudwatch.Metric {
    return new cloudwatch.Metric({
      namespace: 'AWS/ApiGateway',
      metricName,
      statistic,
      dimensionsMap: {
        ApiId: this.stage.api.apiId,
        Stage: this.stage.stageName,
        Method: route.method,
        Resource: route.path,
      },
      label: statistic.startsWith('p') ? statistic : metricName,
    });
  }

  private addRoute(
    api: apigateway.HttpApi,
    routeKey: apigateway.HttpRouteKey,
    integration: HttpLambdaIntegration,
    id: string,
  ): void {
    const route = new apigateway.HttpRoute(this, id, { httpApi: api, routeKey, integration });
    Validations.of(route.node.defaultChild!).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason:
        'Browsers call without credentials, and the key of send is checked by its function: it ' +
        'belongs to a project, which no authorizer of the gateway knows.',
    });
    // The stage's settings name the route, which must exist by then.
    this.stage.node.addDependency(route);
  }
}
