import { Duration, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { sliceTimeline } from '../contract/timeline.ts';
import { ServiceFunction, type ServiceFunctionProps } from './service-function.ts';

type DeliverFunctionProps = Pick<ServiceFunctionProps, 'root' | 'disposable'>;

/** The function that pushes to one slice of an audience. It has no route: send invokes it. */
export class DeliverFunction extends ServiceFunction {
  constructor(scope: Construct, id: string, props: DeliverFunctionProps) {
    super(scope, id, {
      ...props,
      name: 'deliver',
      // As for send: encryption is work for one thread, so one whole CPU.
      memorySize: 1769,
      timeout: Duration.millis(sliceTimeline.timeoutMs),
      reportsInvocations: true,
    });
    // Without a dead-letter queue: a notification that is an hour late should not be sent at all,
    // and its counts are in the database.
    this.configureAsyncInvoke({
      retryAttempts: 2,
      maxEventAge: Duration.millis(sliceTimeline.startWithinMs),
    });
  }

  /** Invoking this function, which the variables name. */
  grantInvocation(fn: ServiceFunction): void {
    // Not CDK's grantInvoke, which also allows every version and alias, by a wildcard.
    fn.addToRolePolicy(
      new iam.PolicyStatement({
        actions: ['lambda:InvokeFunction'],
        resources: [this.functionArn],
      }),
    );
    const { region, urlSuffix } = Stack.of(this);
    fn.addEnvironment('DELIVER_FUNCTION', this.functionName);
    fn.addEnvironment('AWS_ENDPOINT_URL_LAMBDA', `https://lambda.${region}.${urlSuffix}`);
  }
}
