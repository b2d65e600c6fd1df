import { join } from 'node:path';
import { Duration } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as nodejs from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';
import type { EnvironmentName } from '../contract/environment.ts';
import { type FunctionFacts, functions } from '../contract/functions.ts';
import type { FunctionName } from '../contract/routes.ts';
import { nodeVersion } from '../contract/runtime.ts';
import { logGroup } from './logs.ts';

export interface ServiceFunctionProps {
  /** Also the folder in lambdas/, in kebab case, whose handler.ts exports `handler`. */
  readonly name: FunctionName;
  /** The repository's root directory. */
  readonly root: string;
  /** Whether the log group is deleted with the stack. */
  readonly disposable: boolean;
  /** The command of a shell that adds files to the bundle. @param folder of the bundle. */
  readonly filesFrom?: (folder: string) => string;
}

/**
 * A function of the service, with its bundle, role and log group. The role allows writing to
 * that log group. The stack adds the grants and the environment of the contract.
 */
export class ServiceFunction extends nodejs.NodejsFunction {
  readonly facts: FunctionFacts;

  constructor(scope: Construct, props: ServiceFunctionProps) {
    const facts: FunctionFacts = functions[props.name];
    const id = props.name[0]!.toUpperCase() + props.name.slice(1);
    const log = logGroup(scope, `${id}Log`, props.disposable);
    // Lambda's managed policy would allow writing to all log groups of the account.
    const role = new iam.Role(scope, `${id}Role`, {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
    });
    log.grantWrite(role);

    super(scope, id, {
      entry: join(props.root, 'lambdas', folderOf(props.name), 'handler.ts'),
      projectRoot: props.root,
      depsLockFilePath: join(props.root, 'package-lock.json'),
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
      bundling: {
        // Importing node:http as an ES module makes Node read all its exports, and so load its `fetch`: 20 ms of a
        // cold start (measured). `require` does not.
        format: nodejs.OutputFormat.CJS,
        mainFields: ['module', 'main'],
        minify: true,
        logLevel: nodejs.LogLevel.WARNING,
        // The log's stack traces point to the sources.
        sourceMap: true,
        sourcesContent: false,
        inject: [join(props.root, 'lambdas/stack-traces.ts')],
        // Use the tested version of the SDK, not the runtime's.
        bundleAwsSDK: true,
        // DynamoDB has no event streams. The SDK's import() of their code makes esbuild put a function around each
        // module that the code shares with the rest: 7 ms of a cold start (measured).
        externalModules: ['@smithy/core/event-streams'],
        ...(props.filesFrom && { commandHooks: addingFiles(props.filesFrom) }),
        esbuildArgs: {
          '--alias:@aws-sdk/credential-provider-node': join(
            props.root,
            'lambdas/store/lambda-credentials.ts',
          ),
        },
      },
    });
    this.facts = facts;
  }

  /** Sets a variable that the function reads, or that Powertools does. */
  override addEnvironment(name: EnvironmentName | 'POWERTOOLS_SERVICE_NAME', value: string): this {
    return super.addEnvironment(name, value);
  }
}

function addingFiles(command: (folder: string) => string): nodejs.ICommandHooks {
  return {
    beforeBundling: () => [],
    beforeInstall: () => [],
    afterBundling: (_, folder) => [command(folder)],
  };
}

function folderOf(name: FunctionName): string {
  return name.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
}
