import type { IncomingHttpHeaders } from 'node:http';
import {
  type ResolveText,
  type Resource,
  resourcesOf,
  type Template,
  textResolver,
} from './template.ts';

/** One action on one resource, as a policy grants it and a call requires it. */
export interface Grant {
  /** Such as `dynamodb:UpdateItem`. */
  readonly action: string;
  /** ARN of a table, of an index or of a function. */
  readonly resource: string;
}

/** The DynamoDB and Lambda grants of each function's role, by the function's logical id. */
export type Grants = ReadonlyMap<string, readonly Grant[]>;

/**
 * Reads the DynamoDB and Lambda grants of the roles of the template's functions. Statements about other AWS
 * services are ignored.
 * @throws {Error} if a policy is more than a list of actions on a list of ARNs. A guess could allow
 *   what AWS refuses, or refuse what AWS allows.
 */
export function readGrants(template: Template): Grants {
  const text = textResolver(template);
  const policies = resourcesOf(template, 'AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy');
  const [unsupported] = resourcesOf(template, 'AWS::IAM::RolePolicy')[0] ?? [];
  if (unsupported !== undefined) {
    throw new Error(
      `"${unsupported}" is an AWS::IAM::RolePolicy, which the local stack does not support.`,
    );
  }
  return new Map(
    resourcesOf(template, 'AWS::Lambda::Function').map(([logicalId, resource]) => {
      const role = roleOf(logicalId, resource, template);
      const attached = policies.filter(([, { Properties }]) =>
        asList(Properties?.Roles).some((entry) => (entry as { Ref?: unknown }).Ref === role),
      );
      return [logicalId, attached.flatMap(([id, policy]) => grantsOf(id, policy, text))];
    }),
  );
}

function roleOf(functionId: string, { Properties }: Resource, template: Template): string {
  const { 'Fn::GetAtt': attribute } = (Properties?.Role ?? {}) as { 'Fn::GetAtt'?: unknown };
  const [role, name] = Array.isArray(attribute) ? attribute.map(String) : [];
  const found = role === undefined ? undefined : template.Resources[role];
  if (role === undefined || name !== 'Arn' || found?.Type !== 'AWS::IAM::Role') {
    throw new Error(`The role of "${functionId}" is not in the template.`);
  }
  for (const property of ['ManagedPolicyArns', 'Policies', 'PermissionsBoundary']) {
    if (found.Properties?.[property] === undefined) continue;
    throw new Error(`"${role}" has ${property}, which the local stack does not support.`);
  }
  return role;
}

interface Statement {
  readonly Action?: unknown;
  readonly Resource?: unknown;
}

const supportedKeys = ['Action', 'Effect', 'Resource', 'Sid'];

function grantsOf(policyId: string, { Properties }: Resource, text: ResolveText): Grant[] {
  const where = `A statement of "${policyId}"`;
  const document = Properties?.PolicyDocument as { readonly Statement?: unknown } | undefined;
  return asList(document?.Statement).flatMap((entry) => {
    const statement = entry as Statement;
    const actions = checkedActions(statement, where);
    if (actions.length === 0) return [];
    for (const [key, value] of Object.entries(statement)) {
      if (supportedKeys.includes(key) && (key !== 'Effect' || value === 'Allow')) continue;
      throw new Error(
        `${where} has ${key} ${JSON.stringify(value)}, which the local stack does not support.`,
      );
    }
    const resources = asList(statement.Resource).map((arn) => text(arn, where));
    return actions.flatMap((action) =>
      resources.map((resource) => ({ action, resource: withoutWildcard(resource, where) })),
    );
  });
}

/** The actions that the local stack checks: of the services that it runs. */
function checkedActions({ Action }: Statement, where: string): string[] {
  if (Action === undefined) throw new Error(`${where} has no Action.`);
  return asList(Action)
    .map(String)
    .filter((action) => !/^(?!dynamodb:|lambda:)[a-z0-9-]+:/i.test(action))
    .map((action) => withoutWildcard(action, where));
}

function withoutWildcard(text: string, where: string): string {
  if (/^(arn:aws:)?(dynamodb|lambda):[^*?]+$/.test(text)) return text;
  throw new Error(
    `${where} has "${text}": the local stack supports no wildcards, only actions and ARNs of DynamoDB and Lambda.`,
  );
}

/** CDK writes a list with one member as that member. */
function asList(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/** Who signed a request: the logical id of a function, which its credentials contain. */
export function callerOf({ authorization = '' }: IncomingHttpHeaders): string {
  return /Credential=([^/]+)\//.exec(authorization)?.[1] ?? '';
}

/**
 * Checks what IAM checks before AWS performs a call.
 * @param needs permissions that the caller's role must have.
 * @returns IAM's message about the first of these that is not allowed; undefined if all are.
 */
export function accessDenial(
  caller: string,
  needs: readonly Grant[],
  grants: Grants,
): string | undefined {
  const own = grants.get(caller) ?? [];
  const refused = needs.find(
    (need) =>
      !own.some(({ action, resource }) => action === need.action && resource === need.resource),
  );
  if (refused === undefined) return undefined;
  const { action, resource } = refused;
  return (
    `${caller} is not authorized to perform: ${action} on resource: ${resource} ` +
    `because no identity-based policy allows the ${action} action`
  );
}
