import { Stack, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { type Route, type RouteName, routes } from '../contract/routes.ts';
import { alarmOn } from './alarms.ts';
import { logGroup } from './logs.ts';

/**
 * Requests per second, and at once, of all callers together. API Gateway counts them before a
 * function knows who calls: a flood above one of these blocks that route for every project. They
 * only bound what a flood costs. The functions limit each caller, by address and project.
 *
 * An account may take 10,000 requests per second in a region, 5,000 at once, for all its APIs (2,500
 * and 1,250 in some regions). The routes and their preflights add up to 5,000, so that a flood of one
 * leaves room for the others.
 */
const throttlePerSecond: Readonly<Record<RouteName, number>> = {
  // 43 million subscriptions a day. At 20 ms a request (4 ms measured on one machine, of which two
  // calls to DynamoDB) it keeps 10 functions busy, of the 1,000 that an account may run at once.
  subscribe: 500,
  unsubscribe: 500,
  // A send without a right key is refused after at most two calls to DynamoDB, so the same holds.
  // A send with a key may take 29 s: key holders can use up the account's functions, and no figure
  // here could prevent that and let a flood pass.
  send: 500,
  // Three broadcasts to 30,000 browsers at once, half of which report within 30 s.
  track: 1500,
};

// Which route, not which path: the ids in a path are enough to report beacons, and the query of
// unsubscribe is an endpoint. No address of the caller either, which the gateway cannot shorten: the
// functions log its network under the same request id.
const accessLogLine = {
  requestId: '$context.requestId',
  time: '$context.requestTime',
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
          ThrottlingRateLimit: throttlePerSecond[route.name],
          ThrottlingBurstLimit: throttlePerSecond[route.name],
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
