import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct, Node } from 'constructs';
import { sliceTimeline } from '../contract/infrastructure/delivery.ts';
import type { EnvironmentName } from '../contract/infrastructure/environment.ts';
import { nodeVersion } from '../contract/infrastructure/runtime.ts';
import { type FunctionFacts, type FunctionName, functions } from '../contract/wire/routes.ts';
import { acknowledgeRule } from './acknowledged-rule.ts';
import { SettingsError } from './settings.ts';

/** The network in which functions run. */
export type Network = Pick<
  lambda.FunctionOptions,
  'vpc' | 'vpcSubnets' | 'securityGroups' | 'ipv6AllowedForDualStack'
>;

export interface ServiceFunctionProps {
  readonly name: FunctionName;
  /** What happens to the log group when the stack is deleted. */
  readonly removalPolicy: RemovalPolicy;
  /** A period of CloudWatch Logs. */
  readonly logDays: logs.RetentionDays;
  /** Undefined: none of the operator's. */
  readonly network: Network | undefined;
}

/** What Lambda does with the role of a function in a VPC. AWS's managed policy would also allow all log groups. */
const networkActions = [
  ...['CreateNetworkInterface', 'DeleteNetworkInterface', 'DescribeNetworkInterfaces'],
  ...['DescribeSubnets', 'AssignPrivateIpAddresses', 'UnassignPrivateIpAddresses'],
].map((action) => `ec2:${action}`);

/**
 * A function of the service, with its code, role and log group. The role allows writing to
 * that log group. The stack adds the grants and the environment of the contract.
 */
export class ServiceFunction extends lambda.Function {
  readonly facts: FunctionFacts;

  constructor(scope: Construct, { name, removalPolicy, logDays, network }: ServiceFunctionProps) {
    const facts = functions[name];
    const id = name[0]!.toUpperCase() + name.slice(1);
    const log = new logs.LogGroup(scope, `${id}Log`, { retention: logDays, removalPolicy });
    // Lambda's managed policy would allow writing to all log groups of the account.
    const role = new iam.Role(scope, `${id}Role`, {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
    });
    log.grantWrite(role);
    if (network !== undefined) {
      role.addToPolicy(new iam.PolicyStatement({ actions: networkActions, resources: ['*'] }));
      acknowledgeRule(role.node.findChild('DefaultPolicy'), {
        id: 'AwsSolutions-IAM5',
        finding: 'Resource::*',
        reason: 'Lambda creates the network interfaces, and gives them names.',
      });
    }
    const asset = assetOf(scope.node, name);

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
      ...network,
    });
    this.facts = facts;
  }

  /** Sets a variable that the function reads, or that Powertools does. */
  override addEnvironment(name: EnvironmentName | 'POWERTOOLS_SERVICE_NAME', value: string): this {
    return super.addEnvironment(name, value);
  }
}

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

/** The functions' code: a folder or a ZIP file for each. */
export type Assets = Readonly<
  Record<
    FunctionName,
    {
      /** In the folder of the list. */
      readonly path: string;
      /** Hash of the files. It is the same for the folder and the ZIP file of them. */
      readonly hash: string;
    }
  >
>;

/** The list, as JSON, in the folder that has the assets. */
export const assetsFile = 'assets.json';

/** Entry of an app's context: the folder with the assets. The package has its own. */
export const assetsEntry = 'carillon:assets';

/** The asset of a function. @param node of a construct in the app. */
function assetOf(node: Node, name: FunctionName): { path: string; hash: string } {
  const folder: string = node.tryGetContext(assetsEntry) ?? join(import.meta.dirname, 'assets');
  const list = join(folder, assetsFile);
  if (!existsSync(list)) {
    throw new SettingsError(
      `The code of Carillon's functions is not in ${folder}. If a bundler bundles your app, let it leave out the package: esbuild --external:carillon-aws`,
    );
  }
  const { path, hash } = (JSON.parse(readFileSync(list, 'utf8')) as Assets)[name];
  return { path: join(folder, path), hash };
}
