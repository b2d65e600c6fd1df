import { type CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { type Quotas, quotasSchema } from '../../contract/aws-quotas.ts';
import {
  type DeployedSettings,
  readEnvironment,
  settingNames,
} from '../../contract/environment.ts';
import { idsOf, outputPrefixOf } from '../../contract/stack-name.ts';
import { outputOf, type TableName, tableNames } from '../../contract/tables.ts';
import { deployCall } from '../calls.ts';
import { ConnectionError } from '../errors.ts';

const tableOutputs = Object.fromEntries(
  tableNames.map((table) => [table, outputOf(table)]),
) as Record<TableName, string>;

/** The outputs of the stack that are needed to manage its projects. */
const outputNames = {
  baseUrl: 'ApiUrl',
  settings: 'Settings',
  quotas: 'Quotas',
  ...tableOutputs,
} as const;

type Outputs = Readonly<Record<keyof typeof outputNames, string>>;

/** @throws {ConnectionError} */
export async function readOutputs(
  cloudFormation: CloudFormationClient,
  service: string,
  region: string,
): Promise<Outputs> {
  const [stack = '', ...ids] = service.split('/');
  const prefix = outputPrefixOf(ids);
  const response = await cloudFormation
    .send(new DescribeStacksCommand({ StackName: stack }))
    .catch((cause: unknown) => {
      throw new ConnectionError(describeStackError(cause, stack, region), { cause });
    });
  const outputs = new Map(
    response.Stacks?.[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]),
  );
  const read = (start: string) =>
    Object.fromEntries(
      Object.entries(outputNames).map(([key, name]) => [key, outputs.get(start + name)]),
    ) as Outputs;
  const isComplete = (start: string) => Object.values(read(start)).every(Boolean);
  if (isComplete(prefix)) return read(prefix);
  // A service in the stack of another app.
  const { baseUrl } = outputNames;
  const others = [...outputs.keys()]
    .flatMap((name) => (name?.endsWith(baseUrl) ? [name.slice(0, -baseUrl.length)] : []))
    .filter(isComplete);
  if (others.length > 0) {
    const calls = others.map((other) => `--stack ${shellWord(`${stack}/${idsOf(other)}`)}`);
    throw new ConnectionError(`Choose a service of stack "${stack}": ${calls.join(' or ')}.`);
  }
  const missing = Object.values(outputNames).filter((name) => !outputs.get(prefix + name));
  throw new ConnectionError(
    `Stack "${stack}" in ${region} is missing the outputs ${missing.map((name) => prefix + name).join(', ')}. Check --stack, or deploy the stack again. A service in an app of yours needs exportOutputs: true.`,
  );
}

const shellWord = (text: string) => (/^[\w./-]+$/.test(text) ? text : `'${text}'`);

/** @param text the output `Settings`. @throws {ConnectionError} */
export function parseSettings(text: string, stack: string): DeployedSettings {
  return parse('settings', stack, () => readEnvironment(settingNames, JSON.parse(text)));
}

/** @param text the output `Quotas`. @throws {ConnectionError} */
export function parseQuotas(text: string, stack: string): Quotas {
  return parse('quotas', stack, () => quotasSchema.parse(JSON.parse(text)));
}

function parse<Value>(output: keyof Outputs, stack: string, read: () => Value): Value {
  try {
    return read();
  } catch (cause) {
    throw new ConnectionError(
      `The output ${outputNames[output]} of stack "${stack}" is malformed. Deploy the stack again.`,
      { cause },
    );
  }
}

function describeStackError(error: unknown, stack: string, region: string): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  switch (name) {
    // CloudFormation has no more specific error for a stack that does not exist.
    case 'ValidationError':
      return `Stack "${stack}" does not exist in ${region}. Deploy it with ${deployCall}, or choose another with --stack or --region.`;
    case 'AccessDenied':
    case 'AccessDeniedException':
      return `These AWS credentials are not allowed to describe stack "${stack}" in ${region}.`;
    case 'ExpiredToken':
    case 'ExpiredTokenException':
    case 'InvalidClientTokenId':
    case 'SignatureDoesNotMatch':
    case 'UnrecognizedClientException':
      return 'The AWS credentials are expired or invalid. Sign in again.';
    default:
      return `Cannot describe stack "${stack}" in ${region}: ${message}`;
  }
}
