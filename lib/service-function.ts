import { Duration } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { EnvironmentName } from '../contract/environment.ts';
import { type FunctionFacts, type FunctionName, functions } from '../contract/routes.ts';
import { nodeVersion } from '../contract/runtime.ts';
import { assetOf } from './assets.ts';
import { logGroup } from './logs.ts';

export interface ServiceFunctionProps {
  readonly name: FunctionName;
  /** Whether the log group is deleted with the stack. */
  readonly disposable: boolean;
}

/**
 * A function of the service, with its code, role and log group. The role allows writing to
 * that log group. The stack adds the grants and the environment of the contract.
 */
export class ServiceFunction extends lambda.Function {
  readonly facts: FunctionFacts;

  constructor(scope: Construct, props: ServiceFunctionProps) {
    const facts = functions[props.name];
    const id = props.name[0]!.toUpperCase() + props.name.slice(1);
    const log = logGroup(scope, `${id}Log`, props.disposable);
    // Lambda's managed policy would allow writing to all log groups of the account.
    const role = new iam.Role(scope, `${id}Role`, {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
    });
    log.grantWrite(role);
    const asset = assetOf(scope.node, props.name);

    super(scope, id, {
      code: lambda.Code.fromAsset(asset.path, { assetHash: asset.hash }),
      handler: 'index.handler',
      runtime: lambda.Runtime[`NODEJS_${nodeVersion}_X`],
      architecture: lambda.Architecture.ARM_64,
      memorySize: facts.memoryMb,
      timeout: Duration.millis(facts.timeoutMs),
      role,
      logGroup: log,
      // Only with JSON can Lambda's own lines be filtered. It leaves lines of JSON, such as ours, as they are. At WARN
      // it logs the invocations that fail; the others' lines would cost as much as their invocation.
      loggingFormat: lambda.LoggingFormat.JSON,
      systemLogLevelV2: facts.reportsInvocations
        ? lambda.SystemLogLevel.INFO
        : lambda.SystemLogLevel.WARN,
    });
    this.facts = facts;
  }

  /** Sets a variable that the function reads, or that Powertools does. */
  override addEnvironment(name: EnvironmentName | 'POWERTOOLS_SERVICE_NAME', value: string): this {
    return super.addEnvironment(name, value);
  }
}
