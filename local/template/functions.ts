import { join } from 'node:path';
import { type Resolve, textResolver } from './references.ts';
import { type Assembly, resourcesOf } from './template.ts';

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
  readonly Environment?: { readonly Variables?: Readonly<Record<string, unknown>> };
}

/**
 * Reads the assembly's functions.
 * @throws {Error} if a function's code is not a local asset, or a reference cannot be resolved.
 */
export function readFunctions(
  { directory, template }: Assembly,
  resolve: Resolve,
): readonly FunctionDefinition[] {
  const text = textResolver(resolve);
  return resourcesOf(template, 'AWS::Lambda::Function').map(([logicalId, resource]) => {
    const properties = resource.Properties as unknown as FunctionProperties;
    const asset = resource.Metadata?.['aws:asset:path'];
    if (typeof asset !== 'string') {
      throw new Error(`The code of "${logicalId}" is not an asset of the assembly.`);
    }
    const variables = Object.entries(properties.Environment?.Variables ?? {});
    return {
      logicalId,
      name: text({ Ref: logicalId }, logicalId),
      arn: text({ 'Fn::GetAtt': [logicalId, 'Arn'] }, logicalId),
      assetPath: join(directory, asset),
      handler: properties.Handler,
      environment: Object.fromEntries(
        variables.map(([name, value]) => [name, text(value, `${name} of "${logicalId}"`)]),
      ),
      timeoutMs: (properties.Timeout ?? defaultTimeoutSeconds) * 1000,
      memoryMb: properties.MemorySize ?? defaultMemoryMb,
    };
  });
}
