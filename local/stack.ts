import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EnvironmentName, environment } from '../contract/environment.ts';
import { type DynamoDbEngine, startDynamoDb } from './dynamodb/dynamodb.ts';
import { type DynamoDbHook, startDynamoDbProxy } from './dynamodb/proxy.ts';
import { type TableNames, tableNames } from './dynamodb/table-names.ts';
import { createTables } from './dynamodb/tables.ts';
import { type AccessLine, type Pages, startGateway } from './gateway/gateway.ts';
import type { FunctionLog } from './lambda/function-instance.ts';
import { FunctionPool } from './lambda/function-pool.ts';
import { type PushService, startPushService } from './push-service/push-service.ts';
import { provideAssembly } from './template/assembly-cache.ts';
import { type FunctionDefinition, readFunctions } from './template/functions.ts';
import { readGrants } from './template/iam-policy.ts';
import { createResolver, localRegion } from './template/references.ts';
import { readRoutes } from './template/routes.ts';
import { readAssembly } from './template/template.ts';

export interface StackOptions {
  /** Directory of a cloud assembly that is synthesized already. */
  readonly assembly?: string | undefined;
  /** Settings of the CDK app; of no effect on an `assembly`. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** In place of what the template gives the functions that have these variables. */
  readonly environment?: Readonly<Partial<Record<EnvironmentName, string>>> | undefined;
  /** Of the gateway; 0, the default, takes any free one. */
  readonly port?: number | undefined;
  /** 0, the default, takes any free one. */
  readonly pushServicePort?: number | undefined;
  readonly engine?: DynamoDbEngine | undefined;
  /** Directory to keep the tables in; in memory where absent. */
  readonly dataDir?: string | undefined;
  /** See `Api`. */
  readonly trustForwardedFor?: boolean | undefined;
  /** See `Api`. */
  readonly throttled?: boolean | undefined;
  /** See `Api`. */
  readonly nowMs?: (() => number) | undefined;
  /** Instances of one function at a time; 8 where absent. */
  readonly concurrency?: number | undefined;
  /** Breaks the start off. */
  readonly signal?: AbortSignal | undefined;
  /** Hears what is done next, as a sentence for a person. */
  readonly onStep?: ((step: string) => void) | undefined;
  readonly onRequest?: ((line: AccessLine) => void) | undefined;
  readonly onLog?: ((line: FunctionLog) => void) | undefined;
  /** Hears every call of a function to DynamoDB that its role allows, and may have it fail. */
  readonly onDynamoDbCall?: DynamoDbHook | undefined;
  /** See `GatewayOptions`. */
  readonly pages?: Pages | undefined;
}

export interface Stack {
  /** Where the API answers, without a slash at its end. */
  readonly baseUrl: string;
  readonly pushService: PushService;
  readonly dynamodb: {
    readonly endpoint: string;
    readonly engine: DynamoDbEngine;
    readonly tables: TableNames;
  };
  /** By the function's name. */
  readonly functions: ReadonlyMap<string, FunctionPool>;
  /** Ends all that was started, the last first. */
  stop(): Promise<void>;
}

/**
 * Runs on this machine what a deployment would run in AWS: the tables, routes and functions of
 * the synthesized template. In place of the browsers' push services stands a local one, admitted
 * as any other extra origin.
 * @throws {Error} with nothing left running.
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const { signal, onStep = () => {} } = options;
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (let last = stops.pop(); last !== undefined; last = stops.pop()) await last();
  };
  try {
    // Early, so that a busy port fails before a synthesis, and callers hear that it starts.
    const { onLog, onRequest, pages } = options;
    const gateway = await listening(options.port, (port) =>
      startGateway({
        port,
        onRequest,
        onFailure: (error) => onLog?.({ function: 'gateway', text: stackOf(error) }),
        pages,
      }),
    );
    stops.push(gateway.stop);
    const pushService = await listening(options.pushServicePort, (port) =>
      startPushService({ port }),
    );
    stops.push(() => pushService.stop());

    const { engine, dataDir } = options;
    const dynamodb = await startDynamoDb({ engine, dataDir });
    stops.push(dynamodb.stop);
    signal?.throwIfAborted();

    const directory = options.assembly ?? (await mkdtemp(join(tmpdir(), 'carillon-')));
    if (options.assembly === undefined) {
      stops.push(() => rm(directory, { recursive: true }));
      await provideAssembly({
        directory,
        context: options.context,
        signal,
        onSynthesis: () => onStep('Synthesizing the stack'),
      });
    }
    signal?.throwIfAborted();
    const assembly = readAssembly(directory);
    const resolve = createResolver(assembly.template);
    const definitions = readFunctions(assembly, resolve);
    const routes = readRoutes(assembly.template, definitions, resolve);

    onStep('Creating the tables');
    await createTables(assembly.template, dynamodb.endpoint, resolve);
    const gate = await startDynamoDbProxy({
      target: dynamodb.endpoint,
      grants: readGrants(assembly.template, resolve),
      onCall: options.onDynamoDbCall,
    });
    stops.push(gate.stop);
    signal?.throwIfAborted();

    const functions = new Map(
      definitions.map((definition) => {
        const settings = {
          ...definition,
          environment: {
            ...settledVariables(definition, pushService.origin, options.environment),
            ...lambdaVariables(definition, gate.endpoint),
          },
        };
        const { concurrency: size } = options;
        return [definition.name, new FunctionPool(settings, { size, onLog })];
      }),
    );
    stops.push(async () => {
      await Promise.all([...functions.values()].map((pool) => pool.stop()));
    });

    gateway.open({
      routes,
      invoke: (name, event, requestId) => functions.get(name)!.invoke(event, requestId),
      trustForwardedFor: options.trustForwardedFor,
      throttled: options.throttled,
      nowMs: options.nowMs,
    });
    // Before the functions, so that no request meets one that was stopped.
    stops.push(gateway.stop);

    return {
      baseUrl: gateway.origin,
      pushService,
      dynamodb: {
        endpoint: dynamodb.endpoint,
        engine: dynamodb.engine,
        tables: tableNames(definitions),
      },
      functions,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The template's variables; extra push origins include the local push service. */
function settledVariables(
  { environment: variables }: FunctionDefinition,
  pushOrigin: string,
  overrides: Readonly<Partial<Record<string, string>>> = {},
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, given]) => {
      const value = overrides[name] ?? given;
      if (name !== environment.extraPushOrigins) return [name, value];
      return [name, [...value.split(',').filter(Boolean), pushOrigin].join(',')];
    }),
  );
}

/** What Lambda itself sets, and where the local DynamoDB is. */
function lambdaVariables(
  { logicalId, name, memory }: FunctionDefinition,
  dynamodbEndpoint: string,
): Record<string, string> {
  return {
    AWS_REGION: localRegion,
    // Tell the functions apart, as their roles do in AWS.
    AWS_ACCESS_KEY_ID: logicalId,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint,
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memory),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    // The SDK's advice about this machine's Node: the functions are deployed on another.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function listening<Server>(
  port: number | undefined,
  start: (port: number) => Promise<Server>,
): Promise<Server> {
  try {
    return await start(port ?? 0);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Error(`Port ${port} is in use. Free it, or choose another with PORT.`);
    }
    throw error;
  }
}
