import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDataDirectory, removeDataDirectory } from 'aws-emulator/data-directory';
import { type DynamoDbOptions, startDynamoDb } from 'aws-emulator/dynamodb/dynamodb';
import { type DynamoDbHook, startDynamoDbProxy } from 'aws-emulator/dynamodb/proxy';
import { createTables } from 'aws-emulator/dynamodb/tables';
import type { AfterForgetting } from 'aws-emulator/forget-connections';
import { readFunctions } from 'aws-emulator/functions';
import { type Api, type GatewayOptions, startGateway } from 'aws-emulator/gateway';
import { readGrants } from 'aws-emulator/grants';
import { startLambdaApi } from 'aws-emulator/lambda/api';
import type { EventQueueOptions } from 'aws-emulator/lambda/event-queue';
import { Executions } from 'aws-emulator/lambda/executions';
import { FunctionPool } from 'aws-emulator/lambda/function-pool';
import { readRoutes } from 'aws-emulator/routes';
import { createResolver, readAssembly } from 'aws-emulator/template';
import type { EnvironmentName } from '../contract/environment.ts';
import { gatewayResponseTable } from '../contract/gateway-responses.ts';
import { provideAssembly } from './assembly.ts';
import { functionEnvironment } from './function-environment.ts';
import { startPushService } from './push-service/push-service.ts';
import { settingValues } from './setting-values.ts';
import { startingResponse } from './starting-response.ts';
import { tableNames } from './table-names.ts';

export interface StackOptions
  extends Omit<GatewayOptions, 'responses' | 'starting' | 'onFailure'>,
    Pick<Api, 'throttled' | 'nowMs'>,
    Pick<EventQueueOptions, 'retryDelaysMs' | 'onLog' | 'onInvocation'>,
    DynamoDbOptions {
  /** Directory of a synthesized cloud assembly. Default: the stack is synthesized. */
  readonly assembly?: string | undefined;
  /** Settings of the CDK app. Has no effect with `assembly`. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** Replaces the template's values, in the functions that have these variables. */
  readonly environment?: Readonly<Partial<Record<EnvironmentName, string>>> | undefined;
  /** Default: 0, any free port. */
  readonly pushServicePort?: number | undefined;
  /** Directory of the tables and of the push service's subscriptions. Default: in memory. */
  readonly dataDir?: string | undefined;
  /** Whether to remove that directory first. */
  readonly reset?: boolean | undefined;
  /** Maximum number of instances per function. Default: 8. */
  readonly concurrency?: number | undefined;
  /** Concurrent executions of all functions above which Lambda throttles. Default: 1,000. */
  readonly accountConcurrency?: number | undefined;
  /** Aborts the start. */
  readonly signal?: AbortSignal | undefined;
  /** Is called with the name of each slow step, such as "Creating the tables". */
  readonly onStep?: ((step: string) => void) | undefined;
  /** Is called before each allowed call to DynamoDB, and may return a fault. */
  readonly onDynamoDbCall?: DynamoDbHook | undefined;
}

export type Stack = Awaited<ReturnType<typeof startStack>>;

/**
 * Runs the tables, routes and functions of the synthesized template on this machine. A local push
 * service replaces the browser vendors'; its origin is one of the extra push origins.
 * @throws {Error} after everything was stopped that had started.
 */
export async function startStack(options: StackOptions = {}) {
  const { signal, onStep = () => {}, onInvocation } = options;
  const stops: (() => Promise<void>)[] = [];
  let frozenMs = 0;
  const wallClock = () => Date.now() + frozenMs;
  const stop = async () => {
    for (let last = stops.pop(); last !== undefined; last = stops.pop()) await last();
  };
  try {
    // First, so that a port in use fails before the synthesis, and requests get 503 meanwhile.
    const { onLog, onRequest, onResponse, pages, pagesPort } = options;
    const gateway = await listening(options.port, (port) =>
      startGateway({
        responses: gatewayResponseTable,
        starting: startingResponse,
        port,
        pagesPort,
        onRequest,
        onResponse,
        onFailure: (error) => onLog?.({ function: 'gateway', text: stackTrace(error) }),
        pages,
      }),
    );
    stops.push(gateway.stop);
    const { engine, dataDir, reset } = options;
    // Not before: the port is in use if another stack uses the data.
    if (dataDir !== undefined && reset) removeDataDirectory(dataDir);
    const subscriptionFile =
      dataDir && join(createDataDirectory(dataDir), 'push-subscriptions.jsonl');
    const pushService = await listening(options.pushServicePort, (port) =>
      startPushService({ port, nowMs: wallClock, subscriptionFile }),
    );
    stops.push(() => pushService.stop());

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
    const grants = readGrants(assembly.template, resolve);
    const proxy = await startDynamoDbProxy({
      target: dynamodb.endpoint,
      grants,
      onCall: options.onDynamoDbCall,
    });
    stops.push(proxy.stop);

    const functions = new Map<string, FunctionPool>();
    const executions = new Executions(
      (name, event, requestId) => functions.get(name)!.invoke(event, requestId),
      onInvocation,
      options.accountConcurrency,
    );
    const environments = new Map<string, Record<string, string>>();
    const lambdaApi = await startLambdaApi({
      functions: definitions,
      environments,
      grants,
      executions,
      retryDelaysMs: options.retryDelaysMs,
      onLog,
      onInvocation,
    });
    stops.push(lambdaApi.stop);
    signal?.throwIfAborted();

    for (const definition of definitions) {
      const environment = functionEnvironment(definition, {
        pushServiceOrigin: pushService.origin,
        dynamodbEndpoint: proxy.endpoint,
        baseUrl: gateway.origin,
        lambdaEndpoint: lambdaApi.endpoint,
        overrides: options.environment,
      });
      environments.set(definition.name, environment);
      const { concurrency: size } = options;
      functions.set(
        definition.name,
        new FunctionPool({ ...definition, environment }, { size, onLog, frozenMs: () => frozenMs }),
      );
    }
    stops.push(async () => {
      await Promise.all([...functions.values()].map((pool) => pool.stop()));
    });
    // Before the functions, so that no invocation is retried whose function was stopped.
    stops.push(lambdaApi.stop);

    gateway.open({
      routes,
      invoke: executions.start,
      throttled: options.throttled,
      nowMs: options.nowMs,
      wallClock,
    });
    // The gateway stops before the functions, so that no request reaches a stopped function.
    stops.push(gateway.stop);

    return {
      /** URL of the API, without a trailing slash. */
      baseUrl: gateway.origin,
      pushService,
      dynamodb: {
        endpoint: dynamodb.endpoint,
        engine: dynamodb.engine,
        tables: tableNames(definitions),
      },
      /** The settings as the functions have them. */
      settings: settingValues(environments.values()),
      /** Address of the Lambda API. */
      lambdaEndpoint: lambdaApi.endpoint,
      /** By the function's name. */
      functions: functions as ReadonlyMap<string, FunctionPool>,
      /**
       * Freezes all functions, as Lambda does with environments between two requests: their wall clocks
       * advance, their timers do not, and their peers forget the connections that are open.
       * @returns the number of forgotten connections, by the peer that forgot them.
       * @throws {Error} if a function is running.
       */
      freeze(pauseMs: number, then: AfterForgetting) {
        if (executions.running > 0) throw new Error('Lambda does not freeze a running function.');
        frozenMs += pauseMs;
        return {
          dynamodb: proxy.forgetConnections(then),
          lambda: lambdaApi.forgetConnections(then),
          pushService: pushService.forgetConnections(then),
        };
      },
      /** Stops everything in reverse order of its start. */
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The error's stack trace, or its text. */
function stackTrace(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** @throws {Error} that names the port if it is in use. */
async function listening<Server>(
  port: number | undefined,
  start: (port: number) => Promise<Server>,
): Promise<Server> {
  try {
    return await start(port ?? 0);
  } catch (error) {
    const { code, port: inUse } = error as NodeJS.ErrnoException & { readonly port?: number };
    if (code === 'EADDRINUSE') {
      throw new Error(`Port ${inUse} is in use. Free it, or choose another with PORT.`);
    }
    throw error;
  }
}
