import { join } from 'node:path';
import type { Duration } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as nodejs from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';
import type { RouteName } from '../contract/routes.ts';
import { alarmOn } from './alarms.ts';
import { logGroup } from './logs.ts';

export interface EndpointFunctionProps {
  /** Names the folder under lambdas/ whose handler.ts exports `handler`. */
  readonly route: RouteName;
  /** The repository's root. */
  readonly root: string;
  /** MB; the share of a CPU follows it, and 1,769 is one whole. */
  readonly memorySize: number;
  readonly timeout: Duration;
  /** Whether logs go when the stack goes. */
  readonly disposable: boolean;
}

/**
 * The function of one endpoint: its bundle, its role, its log group and its alarms. The role may
 * write its own log and nothing else; the tables add what the function does with them.
 */
export class EndpointFunction extends nodejs.NodejsFunction {
  constructor(scope: Construct, id: string, props: EndpointFunctionProps) {
    const log = logGroup(scope, `${id}Log`, props.disposable);
    // A role of its own, since Lambda's usual managed policy may write every log of the account.
    const role = new iam.Role(scope, `${id}Role`, {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
    });
    log.grantWrite(role);

    super(scope, id, {
      entry: join(props.root, 'lambdas', props.route, 'handler.ts'),
      projectRoot: props.root,
      depsLockFilePath: join(props.root, 'package-lock.json'),
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      memorySize: props.memorySize,
      timeout: props.timeout,
      role,
      logGroup: log,
      environment: {
        // Errors in the log point into the sources: 10 ms of a cold start, measured, buy that.
        NODE_OPTIONS: '--enable-source-maps',
      },
      bundling: {
        format: nodejs.OutputFormat.ESM,
        mainFields: ['module', 'main'],
        minify: true,
        sourceMap: true,
        sourcesContent: false,
        // The SDK that was tested is the SDK that runs, not the one the runtime happens to carry.
        bundleAwsSDK: true,
        esbuildArgs: {
          '--alias:@aws-sdk/credential-provider-node': join(
            props.root,
            'lambdas/store/lambda-credentials.ts',
          ),
        },
      },
    });

    alarmOn(this, 'Errors', {
      metric: this.metricErrors(),
      description: `The ${props.route} function crashed or ran out of time.`,
    });
    alarmOn(this, 'Throttles', {
      metric: this.metricThrottles(),
      description: `The ${props.route} function had no concurrency left for some requests.`,
    });
  }

  /** The most instances at work at once. */
  metricConcurrency(): cloudwatch.Metric {
    return this.metric('ConcurrentExecutions', { statistic: 'Maximum' });
  }
}
