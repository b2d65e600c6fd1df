import { type Resolve, textResolver } from './references.ts';
import { type Resource, resourcesOf, type Template } from './template.ts';

/** One action on one resource: what a policy grants, and what a call needs. */
export interface Grant {
  /** Such as `dynamodb:UpdateItem`. */
  readonly action: string;
  /** ARN of a table or of an index. */
  readonly resource: string;
}

/** What each function's role allows it on DynamoDB, by the function's logical id. */
export type Grants = ReadonlyMap<string, readonly Grant[]>;

/**
 * Reads what the roles of the template's functions allow on DynamoDB. Statements about other
 * services are passed over.
 * @throws {Error} at whatever would need more of IAM than a list of actions on a list of ARNs: to
 *   guess here would be to allow what AWS refuses, or the reverse.
 */
export function readGrants(template: Template, resolve: Resolve): Grants {
  const policies = resourcesOf(template, 'AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy');
  const [unknown] = resourcesOf(template, 'AWS::IAM::RolePolicy')[0] ?? [];
  if (unknown !== undefined) {
    throw new Error(
      `"${unknown}" is an AWS::IAM::RolePolicy, which the local stack does not know.`,
    );
  }
  return new Map(
    resourcesOf(template, 'AWS::Lambda::Function').map(([logicalId, resource]) => {
      const role = roleOf(logicalId, resource, template);
      const own = policies.filter(([, { Properties }]) => isOf(role, Properties?.Roles));
      return [logicalId, own.flatMap(([id, policy]) => grantsOf(id, policy, resolve))];
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
    throw new Error(`"${role}" has ${property}, which the local stack does not know.`);
  }
  return role;
}

function isOf(role: string, roles: unknown): boolean {
  return listed(roles).some((entry) => (entry as { Ref?: unknown }).Ref === role);
}

interface Statement {
  readonly Action?: unknown;
  readonly Resource?: unknown;
}

const understood = ['Action', 'Effect', 'Resource', 'Sid'];

function grantsOf(policyId: string, { Properties }: Resource, resolve: Resolve): Grant[] {
  const where = `A statement of "${policyId}"`;
  const document = Properties?.PolicyDocument as { readonly Statement?: unknown } | undefined;
  return listed(document?.Statement).flatMap((entry) => {
    const statement = entry as Statement;
    const actions = dynamoDbActions(statement, where);
    if (actions.length === 0) return [];
    for (const [key, value] of Object.entries(statement)) {
      if (understood.includes(key) && (key !== 'Effect' || value === 'Allow')) continue;
      throw new Error(`${where} has ${key} ${JSON.stringify(value)}, which is not known here.`);
    }
    const text = textResolver(resolve);
    const resources = listed(statement.Resource).map((arn) => text(arn, where));
    return actions.flatMap((action) =>
      resources.map((resource) => ({ action, resource: exact(resource, where) })),
    );
  });
}

function dynamoDbActions({ Action }: Statement, where: string): string[] {
  if (Action === undefined) throw new Error(`${where} has no Action.`);
  return listed(Action)
    .map(String)
    .filter((action) => !/^(?!dynamodb:)[a-z0-9-]+:/i.test(action))
    .map((action) => exact(action, where));
}

function exact(text: string, where: string): string {
  if (/^(dynamodb|arn:aws:dynamodb):[^*?]+$/.test(text)) return text;
  throw new Error(`${where} has "${text}", which is not known here: wildcards are not.`);
}

/** CloudFormation writes a list of one as its one member. */
function listed(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
