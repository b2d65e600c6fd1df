import { Duration } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { sliceTimeline } from '../contract/timeline.ts';
import { ServiceFunction, type ServiceFunctionProps } from './service-function.ts';

/** The function that pushes to one slice of an audience. It has no route: send invokes it. */
export class DeliverFunction extends ServiceFunction {
  constructor(scope: Construct, props: Omit<ServiceFunctionProps, 'name'>) {
    super(scope, { ...props, name: 'deliver' });
    // Without a dead-letter queue: a notification that is an hour late should not be sent at all,
    // and its counts are in the database.
    this.configureAsyncInvoke({
      retryAttempts: 2,
      maxEventAge: Duration.millis(sliceTimeline.startWithinMs),
    });
  }

  /** Not CDK's grantInvoke, which also allows every version and alias, by a wildcard. */
  grantInvocation(fn: ServiceFunction): void {
    fn.addToRolePolicy(
      new iam.PolicyStatement({
        actions: ['lambda:InvokeFunction'],
        resources: [this.functionArn],
      }),
    );
  }
}
