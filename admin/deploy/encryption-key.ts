import { partition } from '@aws-sdk/core/client';
import { SignatureV4 } from '@smithy/signature-v4';
import { CommandError } from '../errors.ts';
import type { AwsAccount } from './aws-account.ts';

/** What DynamoDB does with the key of a table. Its documentation of encryption at rest lists it. */
const neededActions = [
  ...['kms:Encrypt', 'kms:Decrypt', 'kms:ReEncrypt*', 'kms:GenerateDataKey*', 'kms:DescribeKey'],
  'kms:CreateGrant',
];

const timeoutMs = 10_000;

/**
 * Finds out whether DynamoDB may use a key for the tables. CloudFormation would find it only after minutes, and a table whose
 * key is refused refuses every request.
 * @returns what is to be said about it. Undefined: nothing.
 * @throws {CommandError} if it may not.
 */
export async function checkEncryptionKey(
  keyArn: string,
  account: Pick<AwsAccount, 'accountId' | 'caller' | 'region' | 'cloudFormation'>,
): Promise<string | undefined> {
  const call = kms(account);
  const statement = neededStatement(account);
  const needed = `${JSON.stringify(statement, null, 2)}\n`;
  const unusable = (problem: string) =>
    new CommandError(
      'encryption_key_unusable',
      `The key ${keyArn} ${problem}\nNothing was changed in AWS.`,
    );
  const described = await call('DescribeKey', { KeyId: keyArn });
  if (described.__type === 'NotFoundException') throw unusable('does not exist.');
  const { KeyState: state = 'Enabled', KeySpec: spec = symmetric } = described.KeyMetadata ?? {};
  if (state !== 'Enabled') throw unusable(`is ${state}: enable it.`);
  if (spec !== symmetric) throw unusable(`is ${spec}: DynamoDB needs ${symmetric}.`);
  const { Policy } = await call('GetKeyPolicy', { KeyId: keyArn, PolicyName: 'default' });
  if (Policy === undefined) {
    return `You may not read the policy of the key ${keyArn}. Whoever administers it makes sure that it has:\n${needed}`;
  }
  if (allows(JSON.parse(Policy), statement)) return undefined;
  throw unusable(
    `lacks a statement in its policy. Add it with "aws kms put-key-policy", or in the console of KMS:\n${needed}`,
  );
}

const symmetric = 'SYMMETRIC_DEFAULT';

/** Lets policies of IAM in the account allow it, through DynamoDB only. */
function neededStatement({ accountId, caller, region }: Parameters<typeof checkEncryptionKey>[1]) {
  const [, ofPartition] = caller.split(':');
  return {
    Sid: 'CarillonTables',
    Effect: 'Allow',
    Principal: { AWS: `arn:${ofPartition}:iam::${accountId}:root` },
    Action: neededActions,
    Resource: '*',
    Condition: {
      StringEquals: { 'kms:ViaService': `dynamodb.${region}.${partition(region).dnsSuffix}` },
    },
  };
}

type NeededStatement = ReturnType<typeof neededStatement>;

type OneOrMore = string | readonly string[];

export interface KeyPolicy {
  readonly Statement: readonly {
    readonly Effect: string;
    readonly Principal?: string | { readonly AWS?: OneOrMore };
    readonly Action?: OneOrMore;
    readonly Condition?: Readonly<Record<string, Readonly<Record<string, OneOrMore>>>>;
  }[];
}

/**
 * Whether a policy leaves the needed actions to policies of IAM. Of conditions only the service is judged: others may hold,
 * and what is denied beside that is the owner's choice.
 */
export function allows({ Statement }: KeyPolicy, needed: NeededStatement): boolean {
  const { Principal, Condition } = needed;
  const service = Condition.StringEquals['kms:ViaService'];
  const allowing = Statement.filter(
    (one) =>
      one.Effect === 'Allow' &&
      principalsOf(one.Principal).some((name) => isOf(name, Principal.AWS)) &&
      Object.values(one.Condition ?? {}).every(({ 'kms:ViaService': via = service }) =>
        listOf(via).some((name) => covers(name, service)),
      ),
  );
  const allowed = allowing.flatMap(({ Action = [] }) => listOf(Action));
  return needed.Action.every((action) => allowed.some((pattern) => covers(pattern, action)));
}

function principalsOf(principal: KeyPolicy['Statement'][number]['Principal']): readonly string[] {
  return typeof principal === 'object' ? listOf(principal.AWS ?? []) : listOf(principal ?? []);
}

/** The account may be written as its id. */
function isOf(principal: string, root: string): boolean {
  return principal === '*' || principal === root || principal === root.split(':')[4];
}

/** Whether a pattern with `*` includes a name, which may be a pattern itself. */
function covers(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 'i').test(name);
}

function listOf(value: OneOrMore): readonly string[] {
  return typeof value === 'string' ? [value] : value;
}

interface KmsResponse {
  /** Of an error. */
  readonly __type?: string;
  readonly KeyMetadata?: { readonly KeyState?: string; readonly KeySpec?: string };
  readonly Policy?: string;
}

/** Calls KMS, without its client: that would be a further package for two calls. Errors are returned. */
function kms({ region, cloudFormation }: Parameters<typeof checkEncryptionKey>[1]) {
  const { credentials, sha256 } = cloudFormation.config;
  const signer = new SignatureV4({ service: 'kms', region, credentials, sha256 });
  const { AWS_ENDPOINT_URL_KMS, AWS_ENDPOINT_URL } = process.env;
  const own = `https://kms.${region}.${partition(region).dnsSuffix}`;
  const url = new URL(AWS_ENDPOINT_URL_KMS ?? AWS_ENDPOINT_URL ?? own);
  return async (operation: string, input: object): Promise<KmsResponse> => {
    const body = JSON.stringify(input);
    const { headers } = await signer.sign({
      method: 'POST',
      ...{ protocol: url.protocol, hostname: url.hostname, path: '/', body },
      headers: {
        host: url.host,
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `TrentService.${operation}`,
      },
    });
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const response = await fetch(url, { method: 'POST', headers, body, signal });
      return (await response.json()) as KmsResponse;
    } catch {
      return {};
    }
  };
}
