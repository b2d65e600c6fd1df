import { readFile } from 'node:fs/promises';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import {
  type DeployedSettings,
  readEnvironment,
  settingNames,
} from '../../contract/environment.ts';
import { serviceNameOf } from '../../contract/stack-name.ts';
import { tableVariables } from '../../contract/tables.ts';
import { documentClient } from '../../lambdas/store/dynamo.ts';
import { type AwsFacts, awsFacts } from '../doctor/aws-facts.ts';
import { type LambdaFacts, lambdaFacts } from '../doctor/lambda-facts.ts';
import { ConnectionError } from '../errors.ts';
import { localConfig } from '../local-config.ts';
import { type ProjectRegistry, projectRegistry } from '../project-registry.ts';
import { type ProjectTables, projectTables } from '../project-tables.ts';
import { type UserData, userData } from '../user-data.ts';
import { parseQuotas, parseSettings, readOutputs } from './stack-outputs.ts';

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
      ...{ stack: path[0]!, service: serviceNameOf(path), quotas, cloudFormation, dynamo, tables },
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
  return { dynamo, registry, users: userData(dynamo, tables, registry, clock) };
}
