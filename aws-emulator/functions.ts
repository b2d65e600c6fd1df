import { join } from 'node:path';
import {
  type Assembly,
  type ResolveText,
  resourcesOf,
  type Template,
  textResolver,
} from './template.ts';

/** One Lambda function of the template. */
export interface FunctionDefinition {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  /** Directory of the bundle. */
  readonly assetPath: string;
  /** `file.export`. */
  readonly handler: string;
  /** Environment variables. References of the template are resolved. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  /** What Lambda does with an asynchronous invocation that fails. */
  readonly asynchronous: {
    /** Attempts after the first one. */
    readonly retries: number;
    /** No attempt starts later than this after the invocation was accepted. */
    readonly maximumAgeMs: number;
  };
}

/** CloudFormation's defaults. */
const defaultTimeoutSeconds = 3;
const defaultMemoryMb = 128;

interface FunctionProperties {
  readonly Handler: string;
  /** Seconds. */
  readonly Timeout?: number;
  /** MB. */
  readonly MemorySize?: number;
  readonly ReservedConcurrentExecutions?: unknown;
  readonly Environment?: { readonly Variables?: Readonly<Record<string, unknown>> };
}

/**
 * Reads the assembly's functions.
 * @throws {Error} if a function's code is not a local asset, or a reference cannot be resolved.
 */
export function readFunctions({ directory, template }: Assembly): readonly FunctionDefinition[] {
  const text = textResolver(template);
  const asynchronousSettings = readAsynchronousSettings(template, text);
  return resourcesOf(template, 'AWS::Lambda::Function').map(([logicalId, resource]) => {
    const properties = resource.Properties as unknown as FunctionProperties;
    const asset = resource.Metadata?.['aws:asset:path'];
    if (typeof asset !== 'string') {
      throw new Error(`The code of "${logicalId}" is not an asset of the assembly.`);
    }
    if (properties.ReservedConcurrentExecutions !== undefined) {
      throw new Error(
        `"${logicalId}" has reserved concurrency, which the local stack does not support.`,
      );
    }
    const variables = Object.entries(properties.Environment?.Variables ?? {});
    const name = text({ Ref: logicalId }, logicalId);
    return {
      logicalId,
      name,
      arn: text({ 'Fn::GetAtt': [logicalId, 'Arn'] }, logicalId),
      assetPath: join(directory, asset),
      handler: properties.Handler,
      environment: Object.fromEntries(
        variables.map(([variable, value]) => [
          variable,
          text(value, `${variable} of "${logicalId}"`),
        ]),
      ),
      timeoutMs: (properties.Timeout ?? defaultTimeoutSeconds) * 1000,
      memoryMb: properties.MemorySize ?? defaultMemoryMb,
      asynchronous: asynchronousSettings(name),
    };
  });
}

interface EventInvokeConfig {
  readonly MaximumRetryAttempts?: number;
  readonly MaximumEventAgeInSeconds?: number;
}

/** By the function's name. */
function readAsynchronousSettings(
  template: Template,
  text: ResolveText,
): (functionName: string) => FunctionDefinition['asynchronous'] {
  const configurations = new Map<string, EventInvokeConfig>(
    resourcesOf(template, 'AWS::Lambda::EventInvokeConfig').map(([logicalId, { Properties }]) => [
      text(Properties?.FunctionName, `FunctionName of "${logicalId}"`),
      Properties as EventInvokeConfig,
    ]),
  );
  return (functionName) => {
    // Lambda's defaults: two retries within six hours.
    const { MaximumRetryAttempts: retries = 2, MaximumEventAgeInSeconds = 6 * 60 * 60 } =
      configurations.get(functionName) ?? {};
    return { retries, maximumAgeMs: MaximumEventAgeInSeconds * 1000 };
  };
}
