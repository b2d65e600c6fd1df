import { join } from 'node:path';
import { type Resolve, textResolver } from './references.ts';
import { type Assembly, resourcesOf } from './template.ts';

/** One Lambda function of the template. */
export interface FunctionDefinition {
  readonly logicalId: string;
  /** As other resources refer to it. */
  readonly name: string;
  readonly arn: string;
  /** Directory of the bundle. */
  readonly assetPath: string;
  /** `file.export`. */
  readonly handler: string;
  /** References are resolved. */
  readonly environment: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly timeout: number;
  /** MB. */
  readonly memory: number;
}

interface FunctionProperties {
  readonly Handler: string;
  readonly Timeout?: number;
  readonly MemorySize?: number;
  readonly Environment?: { readonly Variables?: Readonly<Record<string, unknown>> };
}

/**
 * The assembly's functions with their environments.
 * @throws {Error} where a function's code is no local asset, or a reference cannot be resolved.
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
      throw new Error(`The template does not say where the code of "${logicalId}" lies.`);
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
      // CloudFormation's defaults: 3 s and 128 MB.
      timeout: (properties.Timeout ?? 3) * 1000,
      memory: properties.MemorySize ?? 128,
    };
  });
}
