import { createTables, type DynamoDb } from './dynamodb.ts';
import { type DynamoDbHook, startDynamoDbProxy } from './dynamodb-proxy.ts';
import { type EventQueueOptions, Executions } from './executions.ts';
import { FunctionPool } from './function-pool.ts';
import { type FunctionDefinition, readFunctions } from './functions.ts';
import type { Api, Gateway } from './gateway.ts';
import { readGrants } from './grants.ts';
import { startLambdaApi } from './lambda-api.ts';
import type { AfterForgetting } from './loopback.ts';
import { readRoutes } from './routes.ts';
import { localRegion, readAssembly } from './template.ts';

/** The environment variables of a function. */
export type Variables = Readonly<Record<string, string>>;

export interface EmulatorOptions
  extends Pick<Api, 'throttled' | 'nowMs'>,
    Pick<EventQueueOptions, 'retryDelaysMs' | 'onLog' | 'onInvocation'> {
  /** Directory of the synthesized cloud assembly. */
  readonly assembly: string;
  /** Serves the app's routes from now on. */
  readonly gateway: Gateway;
  readonly dynamodb: DynamoDb;
  /** Returns the variables of a function, given those of the template. Default: these. */
  readonly environment?: ((variables: Variables) => Variables) | undefined;
  /** Maximum number of instances per function. Default: 8. */
  readonly concurrency?: number | undefined;
  /** Concurrent executions of all functions above which Lambda throttles. Default: 1,000. */
  readonly accountConcurrency?: number | undefined;
  /** Is called before each allowed call to DynamoDB, and may return a fault. */
  readonly onDynamoDbCall?: DynamoDbHook | undefined;
}

export type Emulator = Awaited<ReturnType<typeof startEmulator>>;

/**
 * Runs a synthesized app: creates its tables in the database, and serves its routes with its functions.
 * @throws {Error} after everything was stopped that had started.
 */
export async function startEmulator(options: EmulatorOptions) {
  const {
    gateway,
    dynamodb,
    environment = (variables) => variables,
    onLog,
    onInvocation,
  } = options;
  const assembly = readAssembly(options.assembly);
  const definitions = readFunctions(assembly);
  const routes = readRoutes(assembly);
  const grants = readGrants(assembly.template);
  await createTables(assembly.template, dynamodb.endpoint);

  let frozenMs = 0;
  const wallClock = () => Date.now() + frozenMs;
  const functions = new Map<string, FunctionPool>();
  const environments = new Map<string, Variables>();
  const executions = new Executions(
    (name, event, requestId) => functions.get(name)!.invoke(event, requestId),
    onInvocation,
    options.accountConcurrency,
  );
  const proxy = await startDynamoDbProxy({
    target: dynamodb.endpoint,
    grants,
    onCall: options.onDynamoDbCall,
  });
  const lambdaApi = await startLambdaApi({
    functions: definitions,
    environments,
    grants,
    executions,
    retryDelaysMs: options.retryDelaysMs,
    onLog,
    onInvocation,
  });
  async function stop(): Promise<void> {
    // The gateway first, so that no request reaches a stopped function. Then the API, so that no
    // invocation is retried whose function was stopped.
    await gateway.stop();
    await lambdaApi.stop();
    await Promise.all([...functions.values()].map((pool) => pool.stop()));
    await proxy.stop();
  }
  try {
    for (const definition of definitions) {
      const variables = {
        ...environment(definition.environment),
        ...runtimeVariables(definition),
        AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint,
        AWS_ENDPOINT_URL_LAMBDA: lambdaApi.endpoint,
      };
      environments.set(definition.name, variables);
      const pool = new FunctionPool(
        { ...definition, environment: variables },
        { size: options.concurrency, onLog, frozenMs: () => frozenMs },
      );
      functions.set(definition.name, pool);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const { throttled, nowMs } = options;
  gateway.open({ routes, invoke: executions.start, throttled, nowMs, wallClock });
  return {
    /** Address of the Lambda API. */
    lambdaEndpoint: lambdaApi.endpoint,
    /** By the function's name. */
    functions: functions as ReadonlyMap<string, FunctionPool>,
    /** The variables of each function, by its name. */
    environments: environments as ReadonlyMap<string, Variables>,
    /** The wall clock of the functions, which {@link freeze} advances: ms since the epoch. */
    wallClock,
    /**
     * Freezes all functions, as Lambda does with environments between two requests: their wall clocks
     * advance, their timers do not, and their peers forget the connections that are open.
     * @returns the number of forgotten connections, by the peer that forgot them.
     * @throws {Error} if a function is running.
     */
    freeze(pauseMs: number, then: AfterForgetting) {
      if (executions.running > 0) throw new Error('Lambda does not freeze a running function.');
      frozenMs += pauseMs;
      return { dynamodb: proxy.forgetConnections(then), lambda: lambdaApi.forgetConnections(then) };
    },
    /** Stops the gateway and the functions. The database continues. */
    stop,
  };
}

/** The variables that Lambda sets. */
function runtimeVariables({ logicalId, name, memoryMb }: FunctionDefinition): Variables {
  return {
    AWS_REGION: localRegion,
    // The proxy identifies the function by this id, as IAM does by the role.
    AWS_ACCESS_KEY_ID: logicalId,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    // The SDK warns about the Node version of this machine. Deployed functions run on another one.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
}
