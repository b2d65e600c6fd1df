import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { quotasSchema } from '../../contract/infrastructure/aws-quotas.ts';
import {
  type DeployedSettings,
  readEnvironment,
  settingNames,
} from '../../contract/infrastructure/environment.ts';
import { idsOf, outputPrefixOf, serviceNameOf } from '../../contract/infrastructure/stack-name.ts';
import {
  outputOf,
  projectTables,
  type TableName,
  tableNames,
  tableVariables,
} from '../../contract/infrastructure/tables.ts';
import { documentClient } from '../../lambdas/store/dynamo.ts';
import { deployCall } from '../calls.ts';
import { deployedStack } from '../deployed-stack.ts';
import { type AwsFacts, awsFacts, type LambdaFacts, lambdaFacts } from '../doctor/aws-facts.ts';
import { ConnectionError } from '../errors.ts';
import { localConfig } from '../local-config.ts';
import { type ProjectRegistry, projectRegistry } from '../project-registry.ts';

/** A local stack, by its state file, or a deployed stack. */
export type StackLocation =
  | { readonly kind: 'local'; readonly stateFile: string }
  | { readonly kind: 'deployed'; readonly stack: string; readonly region: string | undefined };

export interface Connection {
  readonly registry: ProjectRegistry;
  readonly dynamo: DynamoDBDocumentClient;
  readonly tables: Readonly<Record<TableName, string>>;
  /** Address of the API, without a trailing slash. */
  readonly baseUrl: string;
  /** Version of Carillon that is deployed. Undefined if the stack does not say it. */
  readonly version: string | undefined;
  /** The deployment's settings, which apply where a project's plan sets no limit. */
  readonly settings: DeployedSettings;
  readonly functions: LambdaFacts;
  /** The value of the tag that its resources have. Undefined for a local stack, which has no tags. */
  readonly service: string | undefined;
  /** Undefined for a local stack, which has neither quotas nor alarms nor backups. */
  readonly aws: AwsFacts | undefined;
  /** Address at which browsers connect to a push service that the stack accepts. */
  readonly pushService: string;
  /** Who runs the command: the ARN, or the user of this machine for a local stack. */
  caller(): Promise<string>;
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
  version: z.string().optional(),
});

async function connectLocal(stateFile: string): Promise<Connection> {
  const text = await readFile(stateFile, 'utf8').catch(() => {
    throw new ConnectionError(
      'No local stack is running in this folder. In a clone of Carillon, start one with npm start, and run this command there.',
    );
  });
  const { baseUrl, pushService, lambda, dynamodb, ...state } = parseLocalState(text, stateFile);
  await checkResponds(dynamodb.endpoint);
  const lambdaClient = new LambdaClient(localConfig(lambda.endpoint));
  return connectionOf(openTables(localConfig(dynamodb.endpoint)), {
    tables: projectTables(dynamodb.tables),
    baseUrl,
    settings: state.settings,
    version: state.version,
    functions: lambdaFacts(lambdaClient, async () => lambda.functions),
    aws: undefined,
    service: undefined,
    pushService: pushService.replace(/^http/, 'ws'),
    caller: async () => userInfo().username,
  });
}

/** The state file remains if the local stack was killed. @throws {ConnectionError} */
async function checkResponds(endpoint: string): Promise<void> {
  await fetch(endpoint, { method: 'HEAD' }).catch((cause: unknown) => {
    throw new ConnectionError('The local stack does not respond. Start it again with: npm start', {
      cause,
    });
  });
}

/** Whether a local stack runs. @param stateFile where it would have written its state. */
export async function isRunning(stateFile: string): Promise<boolean> {
  try {
    const { dynamodb } = parseLocalState(await readFile(stateFile, 'utf8'), stateFile);
    await checkResponds(dynamodb.endpoint);
    return true;
  } catch {
    return false;
  }
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
  const config = await signIn(cloudFormation, ' For a local stack, use --local.');
  const outputs = await readOutputs(cloudFormation, service, config.region);
  const { baseUrl, settings, quotas, version, ...tables } = outputs;
  const dynamo = openTables(config);
  const path = service.split('/');
  const serviceName = serviceNameOf(path);
  const aws = awsFacts({
    stack: path[0]!,
    service: serviceName,
    quotas: parse('quotas', quotas, service, (json) => quotasSchema.parse(json)),
    cloudFormation,
  });
  return connectionOf(dynamo, {
    tables,
    baseUrl: baseUrl.replace(/\/$/, ''),
    settings: parse('settings', settings, service, (json) =>
      readEnvironment(settingNames, json as Record<string, string>),
    ),
    version,
    functions: lambdaFacts(new LambdaClient(config), aws.functionNames),
    aws,
    service: serviceName,
    pushService: 'wss://push.services.mozilla.com',
    caller: async () => {
      const sts = new STSClient(config);
      return (await sts.send(new GetCallerIdentityCommand({}))).Arn!;
    },
  });
}

function connectionOf(
  dynamo: DynamoDBDocumentClient,
  stack: Omit<Connection, 'dynamo' | 'registry' | 'close'>,
): Connection {
  return {
    ...stack,
    dynamo,
    registry: projectRegistry(dynamo, stack.tables, () => new Date()),
    close() {
      stack.functions.close();
      stack.aws?.close();
      dynamo.destroy();
    },
  };
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

/** Commands have more time than functions. */
function openTables(config: DynamoDBClientConfig): DynamoDBDocumentClient {
  const times = { connectionTimeout: 5000, requestTimeout: 20_000, throwOnRequestTimeout: true };
  return documentClient({ maxAttempts: 5, requestHandler: times, ...config });
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

/** Stacks of 1.1.0 and before do not have it. */
const versionOutput = 'Version';

type Outputs = Readonly<Record<keyof typeof outputNames, string>>;

/** @throws {ConnectionError} */
async function readOutputs(
  cloudFormation: CloudFormationClient,
  service: string,
  region: string,
): Promise<Outputs & Pick<Connection, 'version'>> {
  const [stack = '', ...ids] = service.split('/');
  const prefix = outputPrefixOf(ids);
  const found = await deployedStack(cloudFormation, stack).status();
  if (found === undefined) {
    throw new ConnectionError(
      `Stack "${stack}" does not exist in ${region}. Deploy it with ${deployCall}, or choose another with --stack or --region.`,
    );
  }
  const { outputs } = found;
  const read = (start: string) =>
    Object.fromEntries(
      Object.entries(outputNames).map(([key, name]) => [key, outputs.get(start + name)]),
    ) as Outputs;
  const isComplete = (start: string) => Object.values(read(start)).every(Boolean);
  if (isComplete(prefix)) return { ...read(prefix), version: outputs.get(prefix + versionOutput) };
  // A service in the stack of another app.
  const { baseUrl } = outputNames;
  const others = [...outputs.keys()]
    .flatMap((name) => (name.endsWith(baseUrl) ? [name.slice(0, -baseUrl.length)] : []))
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

/** @param text JSON of an output. @throws {ConnectionError} */
function parse<Value>(
  output: keyof Outputs,
  text: string,
  stack: string,
  read: (json: unknown) => Value,
): Value {
  try {
    return read(JSON.parse(text));
  } catch (cause) {
    throw new ConnectionError(
      `The output ${outputNames[output]} of stack "${stack}" is malformed. Deploy the stack again.`,
      { cause },
    );
  }
}
