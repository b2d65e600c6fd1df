import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of a CloudFormation template that the local stack reads. */
export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}

export interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

/** The output of a synthesis: a directory with the template and the functions' bundles. */
export interface Assembly {
  readonly directory: string;
  readonly stackName: string;
  readonly template: Template;
}

interface Artifact {
  readonly type: string;
  readonly properties?: { readonly templateFile?: string; readonly stackName?: string };
}

/**
 * Reads a cloud assembly.
 * @throws {Error} if the directory has no assembly, or one with several stacks.
 */
export function readAssembly(directory: string): Assembly {
  const { artifacts } = readJson<{ artifacts: Record<string, Artifact> }>(
    join(directory, 'manifest.json'),
  );
  const stacks = Object.entries(artifacts).filter(
    ([, { type }]) => type === 'aws:cloudformation:stack',
  );
  const [id = '', { properties: { templateFile, stackName = id } = {} } = {}] = stacks[0] ?? [];
  if (stacks.length !== 1 || templateFile === undefined) {
    throw new Error(`The assembly has ${stacks.length} stacks; it must have one.`);
  }
  return { directory, stackName, template: readJson<Template>(join(directory, templateFile)) };
}

function readJson<Content>(file: string): Content {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Content;
  } catch (error) {
    throw new Error(`Cannot read the assembly: ${(error as Error).message}`);
  }
}

/** The resources of the given types with their logical ids, in the template's order. */
export function resourcesOf(
  template: Template,
  ...types: readonly string[]
): readonly (readonly [logicalId: string, resource: Resource])[] {
  return Object.entries(template.Resources).filter(([, { Type }]) => types.includes(Type));
}

/** Account and region of the local stack. */
export const localAccount = '000000000000';
export const localRegion = 'us-east-1';

/**
 * Replaces a template's references in a value with local names.
 * @param where names the value in error messages.
 */
export type Resolve = (value: unknown, where: string) => unknown;

/** Like {@link Resolve}, for values that must be text. */
export type ResolveText = (value: unknown, where: string) => string;

/**
 * Creates the resolver of a template. The local name of a resource is its logical id. The resolver throws an error for
 * an unsupported reference or function, since a wrong guess would cause an obscure error in a function.
 */
export function createResolver({ Resources }: Template): Resolve {
  function ref(name: string, where: string): string {
    const pseudo = pseudoParameters[name];
    if (pseudo !== undefined) return pseudo;
    resourceNamed(name, where);
    return name;
  }

  function resourceNamed(logicalId: string, where: string): Resource {
    const resource = Resources[logicalId];
    if (resource === undefined) {
      throw new Error(`${where} refers to "${logicalId}", which the template does not define.`);
    }
    const physicalName = physicalNames[resource.Type];
    if (physicalName !== undefined && resource.Properties?.[physicalName] !== undefined) {
      throw new Error(
        `${where} refers to "${logicalId}", whose ${physicalName} the local stack does not support.`,
      );
    }
    return resource;
  }

  function getAttribute(logicalId: string, attribute: string, where: string): string {
    const { Type } = resourceNamed(logicalId, where);
    if (Type === 'AWS::ApiGatewayV2::Api' && attribute === 'ApiEndpoint') {
      return `https://${logicalId}.execute-api.${localRegion}.amazonaws.com`;
    }
    const path = attribute === 'Arn' ? arnPaths[Type] : undefined;
    if (path === undefined) {
      throw new Error(
        `${where} uses ${attribute} of "${logicalId}" (${Type}), ` +
          'which the local stack does not support.',
      );
    }
    const [service, prefix] = path;
    return `arn:aws:${service}:${localRegion}:${localAccount}:${prefix}${logicalId}`;
  }

  function resolve(value: unknown, where: string): unknown {
    if (Array.isArray(value)) return value.map((entry) => resolve(entry, where));
    if (typeof value !== 'object' || value === null) return value;
    const [only, ...others] = Object.entries(value);
    if (only !== undefined && others.length === 0) {
      const [key, argument] = only;
      if (key === 'Ref') return ref(argument, where);
      if (key === 'Fn::GetAtt') return getAttribute(argument[0], argument[1], where);
      if (key === 'Fn::Join') {
        const [separator, parts] = argument as [string, unknown[]];
        return parts.map((part) => resolve(part, where)).join(separator);
      }
      if (key.startsWith('Fn::')) {
        throw new Error(`${where} uses ${key}, which the local stack does not support.`);
      }
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [key, resolve(entry, where)]),
    );
  }

  return resolve;
}

/** Creates a resolver that converts numbers and booleans to text, and refuses other values. */
export function textResolver(template: Template): ResolveText {
  const resolve = createResolver(template);
  return (value, where) => {
    const resolved = resolve(value, where);
    if (typeof resolved === 'object' || resolved === undefined) {
      throw new Error(`${where} must be text.`);
    }
    return String(resolved);
  };
}

const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::AccountId': localAccount,
  'AWS::Partition': 'aws',
  'AWS::Region': localRegion,
  'AWS::StackName': 'local',
  'AWS::URLSuffix': 'amazonaws.com',
};

/** The property with a name that replaces the logical id, by resource type. */
const physicalNames: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::Table': 'TableName',
  'AWS::Lambda::Function': 'FunctionName',
};

/** AWS service and start of the path in an ARN, by resource type. */
const arnPaths: Readonly<Record<string, readonly [service: string, prefix: string]>> = {
  'AWS::DynamoDB::Table': ['dynamodb', 'table/'],
  'AWS::Lambda::Function': ['lambda', 'function:'],
};
