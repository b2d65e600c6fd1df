import { readFile } from 'node:fs/promises';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import {
  type DeployedSettings,
  environment,
  readEnvironment,
  settingNames,
} from '../../contract/environment.ts';
import { documentClient } from '../../lambdas/store/dynamo.ts';
import { type ProjectRegistry, projectRegistry } from '../project-registry.ts';
import type { ProjectTables } from '../project-tables.ts';
import { type UserData, userData } from '../user-data.ts';

/** A local stack, by its state file, or a deployed stack. */
export type StackLocation =
  | { readonly kind: 'local'; readonly stateFile: string }
  | { readonly kind: 'deployed'; readonly stack: string; readonly region: string | undefined };

export interface Connection {
  readonly registry: ProjectRegistry;
  readonly users: UserData;
  readonly dynamo: DynamoDBDocumentClient;
  readonly tables: ProjectTables;
  /** Address of the API, without a trailing slash. */
  readonly baseUrl: string;
  /** The deployment's settings, which apply where a project's plan sets no limit. */
  readonly settings: DeployedSettings;
  close(): void;
}

/** The stack cannot be reached. The message says what to do. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code = 'stack_unreachable';
}

/** @throws {ConnectionError} */
export function connect(location: StackLocation): Promise<Connection> {
  return location.kind === 'local'
    ? connectLocal(location.stateFile)
    : connectDeployed(location.stack, location.region);
}

const localState = z.object({
  baseUrl: z.url(),
  dynamodb: z.object({
    endpoint: z.url(),
    tables: z.object({
      [environment.projectsTable]: z.string(),
      [environment.vapidKeysTable]: z.string(),
      [environment.subscriptionsTable]: z.string(),
      [environment.usageTable]: z.string(),
      [environment.notificationsTable]: z.string(),
    }),
  }),
  settings: z.record(z.string(), z.string()),
});

async function connectLocal(stateFile: string): Promise<Connection> {
  const text = await readFile(stateFile, 'utf8').catch(() => {
    throw new ConnectionError(
      'No local stack is running in this folder. Start one with: npm start',
    );
  });
  const { baseUrl, dynamodb, settings } = parseLocalState(text, stateFile);
  const tables = {
    projects: dynamodb.tables.PROJECTS_TABLE,
    vapidKeys: dynamodb.tables.VAPID_KEYS_TABLE,
    subscriptions: dynamodb.tables.SUBSCRIPTIONS_TABLE,
    usage: dynamodb.tables.USAGE_TABLE,
    notifications: dynamodb.tables.NOTIFICATIONS_TABLE,
  };
  // The state file remains if the local stack was killed.
  await fetch(dynamodb.endpoint, { method: 'HEAD' }).catch((cause: unknown) => {
    throw new ConnectionError('The local stack does not respond. Start it again with: npm start', {
      cause,
    });
  });
  return open(baseUrl, tables, settings, {
    endpoint: dynamodb.endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
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

async function connectDeployed(stack: string, region: string | undefined): Promise<Connection> {
  const cloudFormation = new CloudFormationClient(region === undefined ? {} : { region });
  try {
    const resolvedRegion = await cloudFormation.config.region().catch((cause: unknown) => {
      throw new ConnectionError(
        'No AWS region is set. Use --region or set AWS_REGION. For a local stack, use --local.',
        { cause },
      );
    });
    const credentials = await cloudFormation.config.credentials().catch((cause: unknown) => {
      throw new ConnectionError(
        'No AWS credentials found. Sign in or set AWS_PROFILE. For a local stack, use --local.',
        { cause },
      );
    });
    const outputs = await readOutputs(cloudFormation, stack, resolvedRegion);
    const { baseUrl, settings, ...tables } = outputs;
    return open(baseUrl, tables, parseSettings(settings, stack), {
      region: resolvedRegion,
      credentials,
    });
  } finally {
    cloudFormation.destroy();
  }
}

/** The outputs of the stack that are needed to manage its projects. */
const outputNames = {
  baseUrl: 'ApiUrl',
  settings: 'Settings',
  projects: 'ProjectsTable',
  vapidKeys: 'VapidKeysTable',
  subscriptions: 'SubscriptionsTable',
  usage: 'UsageTable',
  notifications: 'NotificationsTable',
} as const;

type Outputs = Readonly<Record<keyof typeof outputNames, string>>;

async function readOutputs(
  cloudFormation: CloudFormationClient,
  stack: string,
  region: string,
): Promise<Outputs> {
  const response = await cloudFormation
    .send(new DescribeStacksCommand({ StackName: stack }))
    .catch((cause: unknown) => {
      throw new ConnectionError(describeStackError(cause, stack, region), { cause });
    });
  const outputs = new Map(
    response.Stacks?.[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]),
  );
  const missing = Object.values(outputNames).filter((name) => !outputs.get(name));
  if (missing.length > 0) {
    throw new ConnectionError(
      `Stack "${stack}" in ${region} is missing the outputs ${missing.join(', ')}. Check --stack, or deploy the stack again.`,
    );
  }
  return Object.fromEntries(
    Object.entries(outputNames).map(([key, name]) => [key, outputs.get(name)]),
  ) as Outputs;
}

/** @param text the output `Settings`. */
function parseSettings(text: string, stack: string): DeployedSettings {
  try {
    return readEnvironment(settingNames, JSON.parse(text));
  } catch (cause) {
    throw new ConnectionError(
      `The output Settings of stack "${stack}" is malformed. Deploy the stack again.`,
      { cause },
    );
  }
}

function describeStackError(error: unknown, stack: string, region: string): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  switch (name) {
    // CloudFormation has no more specific error for a stack that does not exist.
    case 'ValidationError':
      return `Stack "${stack}" does not exist in ${region}. Deploy it with npx cdk deploy, or choose another with --stack or --region.`;
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

function open(
  baseUrl: string,
  tables: ProjectTables,
  settings: DeployedSettings,
  config: DynamoDBClientConfig,
): Connection {
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
  return {
    registry,
    users: userData(dynamo, tables, registry, clock),
    dynamo,
    tables,
    baseUrl: baseUrl.replace(/\/$/, ''),
    settings,
    close: () => dynamo.destroy(),
  };
}
