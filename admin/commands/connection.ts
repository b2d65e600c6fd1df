import { readFile } from 'node:fs/promises';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { type Quotas, quotasSchema } from '../../contract/infrastructure/aws-quotas.ts';
import {
  type DeployedSettings,
  readEnvironment,
  settingNames,
} from '../../contract/infrastructure/environment.ts';
import { idsOf, outputPrefixOf, serviceNameOf } from '../../contract/infrastructure/stack-name.ts';
import {
  outputOf,
  type ProjectTables,
  type TableName,
  tableNames,
  tableVariables,
} from '../../contract/infrastructure/tables.ts';
import { documentClient } from '../../lambdas/store/dynamo.ts';
import { deployCall } from '../calls.ts';
import { type AwsFacts, awsFacts, type LambdaFacts, lambdaFacts } from '../doctor/aws-facts.ts';
import { ConnectionError } from '../errors.ts';
import { localConfig } from '../local-config.ts';
import { type ProjectRegistry, projectRegistry } from '../project-registry.ts';
import { projectTables } from '../project-tables.ts';

/** A local stack, by its state file, or a deployed stack. */
export type StackLocation =
  | { readonly kind: 'local'; readonly stateFile: string }
  | { readonly kind: 'deployed'; readonly stack: string; readonly region: string | undefined };

export interface Connection {
  readonly registry: ProjectRegistry;
  readonly dynamo: DynamoDBDocumentClient;
  readonly tables: ProjectTables;
  /** Address of the API, without a trailing slash. */
  readonly baseUrl: string;
  /** The deployment's settings, which apply where a project's plan sets no limit. */
  readonly settings: DeployedSettings;
  readonly functions: LambdaFacts;
  /** Undefined for a local stack, which has neither quotas nor alarms nor backups. */
  readonly aws: AwsFacts | undefined;
  /** Address at which browsers connect to a push service that the stack accepts. */
  readonly pushService: string;
  close(): void;
}

/** @throws {ConnectionError} */
export function connect(location: StackLocation): Promise<Connection> {
  return location.kind === 'local'
    ? connectLocal(location.stateFile)
    : connectDeployed(location.stack, location.region);
}

const localState = z.object({
  baseUrl: z.url(),
  pushService: z.url(),
  lambda: z.object({ endpoint: z.url(), functions: z.array(z.string()) }),
  dynamodb: z.object({
    endpoint: z.url(),
    tables: z.record(z.enum(Object.values(tableVariables)), z.string()),
  }),
  settings: z.record(z.string(), z.string()),
});

async function connectLocal(stateFile: string): Promise<Connection> {
  const text = await readFile(stateFile, 'utf8').catch(() => {
    throw new ConnectionError('No local stack is running. Start one with: npm start');
  });
  const { baseUrl, pushService, lambda, dynamodb, settings } = parseLocalState(text, stateFile);
  const tables = projectTables(dynamodb.tables);
  // The state file remains if the local stack was killed.
  await fetch(dynamodb.endpoint, { method: 'HEAD' }).catch((cause: unknown) => {
    throw new ConnectionError('The local stack does not respond. Start it again with: npm start', {
      cause,
    });
  });
  const { dynamo, ...stores } = open(tables, localConfig(dynamodb.endpoint));
  const lambdaClient = new LambdaClient(localConfig(lambda.endpoint));
  const functions = lambdaFacts(lambdaClient, async () => lambda.functions);
  return {
    ...stores,
    dynamo,
    tables,
    baseUrl,
    settings,
    functions,
    aws: undefined,
    pushService: pushService.replace(/^http/, 'ws'),
    close() {
      functions.close();
      dynamo.destroy();
    },
  };
}

function parseLocalState(text: string, stateFile: string) {
  try {
    const state = localState.parse(JSON.parse(text));
    return { ...state, settings: readEnvironment(settingNames, state.settings) };
  } catch (cause) {
    throw new ConnectionError(
      `${stateFile} is malformed. Start the local stack again with: npm start`,
      { cause },
    );
  }
}

async function connectDeployed(service: string, region: string | undefined): Promise<Connection> {
  const cloudFormation = new CloudFormationClient(region === undefined ? {} : { region });
  try {
    const { region: resolvedRegion, credentials } = await signIn(
      cloudFormation,
      ' For a local stack, use --local.',
    );
    const outputs = await readOutputs(cloudFormation, service, resolvedRegion);
    const { baseUrl, settings: settingsText, quotas: quotasText, ...tables } = outputs;
    const settings = parseSettings(settingsText, service);
    const quotas = parseQuotas(quotasText, service);
    const config = { region: resolvedRegion, credentials };
    const { dynamo, ...stores } = open(tables, config);
    const path = service.split('/');
    const aws = awsFacts({
      stack: path[0]!,
      service: serviceNameOf(path),
      quotas,
      cloudFormation,
      dynamo,
      tables,
    });
    const functions = lambdaFacts(new LambdaClient(config), aws.functionNames);
    return {
      ...stores,
      dynamo,
      tables,
      baseUrl: baseUrl.replace(/\/$/, ''),
      settings,
      functions,
      aws,
      pushService: 'wss://push.services.mozilla.com',
      close() {
        functions.close();
        aws.close();
        dynamo.destroy();
        cloudFormation.destroy();
      },
    };
  } catch (error) {
    cloudFormation.destroy();
    throw error;
  }
}

/**
 * The region and the credentials of this shell.
 * @param advice is added to the messages.
 * @throws {ConnectionError}
 */
export async function signIn({ config }: CloudFormationClient, advice = '') {
  const region = await config.region().catch((cause: unknown) => {
    const message = `No AWS region is set. Use --region or set AWS_REGION.${advice}`;
    throw new ConnectionError(message, { cause });
  });
  const credentials = await config.credentials().catch((cause: Error) => {
    // The SDK's sentence says what to do about SSO and MFA.
    const reason = cause.message.replace(/\.?$/, '.');
    const message = `No AWS credentials: ${reason} Sign in or set AWS_PROFILE.${advice}`;
    throw new ConnectionError(message, { cause });
  });
  return { region, credentials };
}

function open(tables: ProjectTables, config: DynamoDBClientConfig) {
  // Commands have more time than functions.
  const dynamo = documentClient({
    maxAttempts: 5,
    requestHandler: {
      connectionTimeout: 5000,
      requestTimeout: 20_000,
      throwOnRequestTimeout: true,
    },
    ...config,
  });
  const clock = () => new Date();
  const registry = projectRegistry(dynamo, tables, clock);
  return { dynamo, registry };
}

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
