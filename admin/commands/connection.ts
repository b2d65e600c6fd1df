import { readFile } from 'node:fs/promises';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { environment } from '../../contract/environment.ts';
import { documentClient } from '../../lambdas/store/dynamo.ts';
import { type ProjectRegistry, projectRegistry } from '../project-registry.ts';
import type { ProjectTables } from '../project-tables.ts';

/** Where projects are looked for: a local stack, by its state file, or a deployed one. */
export type StackLocation =
  | { readonly kind: 'local'; readonly stateFile: string }
  | { readonly kind: 'deployed'; readonly stack: string; readonly region: string | undefined };

export interface Connection {
  readonly registry: ProjectRegistry;
  /** Address of the API, without a slash at its end. */
  readonly baseUrl: string;
  close(): void;
}

/** The place cannot be reached; the message says what to do about it. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** @throws {ConnectionError} */
export function connect(place: StackLocation): Promise<Connection> {
  return place.kind === 'local'
    ? connectLocal(place.stateFile)
    : connectDeployed(place.stack, place.region);
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
});

async function connectLocal(stateFile: string): Promise<Connection> {
  const text = await readFile(stateFile, 'utf8').catch(() => {
    throw new ConnectionError('No local stack is running here. Start one with: npm start');
  });
  const { baseUrl, dynamodb } = parseLocalState(text, stateFile);
  const tables = {
    projects: dynamodb.tables.PROJECTS_TABLE,
    vapidKeys: dynamodb.tables.VAPID_KEYS_TABLE,
    subscriptions: dynamodb.tables.SUBSCRIPTIONS_TABLE,
    usage: dynamodb.tables.USAGE_TABLE,
    notifications: dynamodb.tables.NOTIFICATIONS_TABLE,
  };
  // A stack that was killed leaves its state file behind.
  await fetch(dynamodb.endpoint, { method: 'HEAD' }).catch((cause: unknown) => {
    throw new ConnectionError(
      'The local stack does not answer any more. Start it with: npm start',
      { cause },
    );
  });
  return open(baseUrl, tables, {
    endpoint: dynamodb.endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
}

function parseLocalState(text: string, stateFile: string): z.infer<typeof localState> {
  try {
    return localState.parse(JSON.parse(text));
  } catch (cause) {
    throw new ConnectionError(
      `${stateFile} is not a local stack's state. Start the stack anew with: npm start`,
      { cause },
    );
  }
}

async function connectDeployed(stack: string, region: string | undefined): Promise<Connection> {
  const cloudFormation = new CloudFormationClient(region === undefined ? {} : { region });
  try {
    const settledRegion = await cloudFormation.config.region().catch((cause: unknown) => {
      throw new ConnectionError(
        'No AWS region is set. Give --region, or set AWS_REGION; for a local stack use --local.',
        { cause },
      );
    });
    const credentials = await cloudFormation.config.credentials().catch((cause: unknown) => {
      throw new ConnectionError(
        'No AWS credentials were found. Sign in, or set AWS_PROFILE; for a local stack use --local.',
        { cause },
      );
    });
    const outputs = await readOutputs(cloudFormation, stack, settledRegion);
    const { baseUrl, ...tables } = outputs;
    return open(baseUrl, tables, { region: settledRegion, credentials });
  } finally {
    cloudFormation.destroy();
  }
}

/** The stack's outputs that lead to its projects. */
const outputNames = {
  baseUrl: 'ApiUrl',
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
  const described = await cloudFormation
    .send(new DescribeStacksCommand({ StackName: stack }))
    .catch((cause: unknown) => {
      throw new ConnectionError(whyNotDescribed(cause, stack, region), { cause });
    });
  const found = new Map(
    described.Stacks?.[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]),
  );
  const missing = Object.values(outputNames).filter((name) => !found.get(name));
  if (missing.length > 0) {
    throw new ConnectionError(
      `Stack "${stack}" in ${region} lacks the outputs ${missing.join(', ')}: it is another stack, or not deployed whole.`,
    );
  }
  return Object.fromEntries(
    Object.entries(outputNames).map(([key, name]) => [key, found.get(name)]),
  ) as Outputs;
}

function whyNotDescribed(error: unknown, stack: string, region: string): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  switch (name) {
    // CloudFormation's only word for a stack that does not exist.
    case 'ValidationError':
      return `There is no stack "${stack}" in ${region}. Deploy it with npx cdk deploy, or name another with --stack or --region.`;
    case 'AccessDenied':
    case 'AccessDeniedException':
      return `These AWS credentials may not describe stack "${stack}" in ${region}.`;
    case 'ExpiredToken':
    case 'ExpiredTokenException':
    case 'InvalidClientTokenId':
    case 'SignatureDoesNotMatch':
    case 'UnrecognizedClientException':
      return 'AWS does not accept these credentials any more. Sign in again.';
    default:
      return `CloudFormation in ${region} could not be asked: ${message}`;
  }
}

function open(baseUrl: string, tables: ProjectTables, config: DynamoDBClientConfig): Connection {
  const dynamo = documentClient(config);
  return {
    registry: projectRegistry(dynamo, tables, () => new Date()),
    baseUrl: baseUrl.replace(/\/$/, ''),
    close: () => dynamo.destroy(),
  };
}
