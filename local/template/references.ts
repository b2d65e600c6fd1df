import type { Resource, Template } from './template.ts';

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

type Intrinsic = (argument: unknown, where: string) => unknown;

/**
 * Creates the resolver of a template. The local name of a resource is its physical name if the
 * template has one, otherwise its logical id. The resolver throws an error for an unsupported
 * reference or function, since a wrong guess would cause an obscure error in a function.
 */
export function createResolver(template: Template): Resolve {
  const intrinsics: Readonly<Record<string, Intrinsic>> = {
    Ref: (argument, where) => ref(String(argument), where),
    'Fn::GetAtt': (argument, where) => {
      const [logicalId, attribute] = Array.isArray(argument)
        ? argument.map(String)
        : String(argument).split(/\.(.*)/s);
      return getAttribute(logicalId ?? '', attribute ?? '', where);
    },
    'Fn::Join': (argument, where) => {
      const [separator, parts] = argument as [string, unknown[]];
      return parts.map((part) => resolve(part, where)).join(separator);
    },
    'Fn::Sub': (argument, where) => {
      const [text, variables] = (Array.isArray(argument) ? argument : [argument, {}]) as [
        string,
        Record<string, unknown>,
      ];
      return text.replace(/\$\{(!?)([^}]+)\}/g, (_match, literal: string, name: string) => {
        if (literal) return `\${${name}}`;
        if (Object.hasOwn(variables, name)) return String(resolve(variables[name], where));
        const [logicalId, attribute] = name.split(/\.(.*)/s);
        if (attribute === undefined) return String(ref(name, where));
        return getAttribute(logicalId ?? '', attribute, where);
      });
    },
  };

  function ref(name: string, where: string): unknown {
    const pseudo = pseudoParameters[name];
    if (pseudo !== undefined) return pseudo;
    const resource = template.Resources[name];
    if (resource !== undefined) return localName(name, resource);
    const fallback = template.Parameters?.[name]?.Default;
    if (fallback !== undefined) return fallback;
    throw new Error(`${where} refers to "${name}", which the template does not define.`);
  }

  function getAttribute(logicalId: string, attribute: string, where: string): string {
    const resource = template.Resources[logicalId];
    if (resource === undefined) {
      throw new Error(`${where} refers to "${logicalId}", which the template does not define.`);
    }
    if (resource.Type === 'AWS::ApiGatewayV2::Api' && attribute === 'ApiEndpoint') {
      return `https://${logicalId}.execute-api.${localRegion}.amazonaws.com`;
    }
    const arn = attribute === 'Arn' ? arnPaths[resource.Type] : undefined;
    if (arn === undefined) {
      throw new Error(
        `${where} uses ${attribute} of "${logicalId}" (${resource.Type}), ` +
          'which the local stack does not support.',
      );
    }
    const [service, path] = arn;
    const name = localName(logicalId, resource);
    return `arn:aws:${service}:${localRegion}:${localAccount}:${path}${name}`;
  }

  function resolve(value: unknown, where: string): unknown {
    if (Array.isArray(value)) return value.map((entry) => resolve(entry, where));
    if (typeof value !== 'object' || value === null) return value;
    const [only, ...others] = Object.entries(value);
    if (only !== undefined && others.length === 0) {
      const [key, argument] = only;
      const intrinsic = intrinsics[key];
      if (intrinsic !== undefined) return intrinsic(argument, where);
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
export function textResolver(resolve: Resolve): ResolveText {
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

/** AWS service and path of the ARN, by resource type. */
const arnPaths: Readonly<Record<string, readonly [service: string, path: string]>> = {
  'AWS::DynamoDB::GlobalTable': ['dynamodb', 'table/'],
  'AWS::DynamoDB::Table': ['dynamodb', 'table/'],
  'AWS::Lambda::Function': ['lambda', 'function:'],
};

const nameProperties: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::GlobalTable': 'TableName',
  'AWS::DynamoDB::Table': 'TableName',
  'AWS::Lambda::Function': 'FunctionName',
};

function localName(logicalId: string, { Type, Properties }: Resource): string {
  const property = nameProperties[Type];
  const name = property === undefined ? undefined : Properties?.[property];
  return typeof name === 'string' ? name : logicalId;
}
