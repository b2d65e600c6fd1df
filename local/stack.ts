import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { type Emulator, type EmulatorOptions, startEmulator, type Variables } from 'aws-emulator';
import {
  createDataDirectory,
  type DynamoDbOptions,
  startDynamoDb,
  UnusableDataError,
} from 'aws-emulator/dynamodb';
import { type GatewayOptions, startGateway } from 'aws-emulator/gateway';
import type { AfterForgetting } from 'aws-emulator/loopback';
import {
  type DeployedSettings,
  type EnvironmentName,
  settingNames,
} from '../contract/infrastructure/environment.ts';
import { gatewayResponseTable } from '../contract/infrastructure/gateway-responses.ts';
import type { TableVariable } from '../contract/infrastructure/tables.ts';
import { provideAssembly } from './assembly.ts';
import { startingResponse } from './pages.ts';
import { startPushService } from './push-service/push-service.ts';

export interface StackOptions
  extends Omit<GatewayOptions, 'responses' | 'starting' | 'onFailure'>,
    Omit<EmulatorOptions, 'assembly' | 'gateway' | 'dynamodb' | 'environment'>,
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
  /** Aborts the start. */
  readonly signal?: AbortSignal | undefined;
  /** Is called with the name of each slow step, such as "Creating the tables". */
  readonly onStep?: ((step: string) => void) | undefined;
}

export type Stack = Awaited<ReturnType<typeof startStack>>;

/**
 * Runs the tables, routes and functions of the synthesized template on this machine. A local push
 * service replaces the browser vendors'; its origin is one of the extra push origins.
 * @throws {Error} after everything was stopped that had started.
 */
export async function startStack(options: StackOptions = {}) {
  const { engine, dataDir, signal, onStep = () => {} } = options;
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (let last = stops.pop(); last !== undefined; last = stops.pop()) await last();
  };
  let emulator: Emulator | undefined;
  try {
    // First, so that a port in use fails before the synthesis, and requests get 503 meanwhile.
    const gateway = await listening(options.port, (port) =>
      startGateway({
        ...options,
        port,
        responses: gatewayResponseTable,
        starting: startingResponse,
        onFailure: (error) => options.onLog?.({ function: 'gateway', text: inspect(error) }),
      }),
    );
    stops.push(gateway.stop);
    // Not before: the port is in use if another stack uses the data.
    if (dataDir !== undefined && options.reset) await removeDataDirectory(dataDir);
    const subscriptionFile =
      dataDir && join(createDataDirectory(dataDir), 'push-subscriptions.jsonl');
    const nowMs = () => emulator?.wallClock() ?? Date.now();
    const pushService = await listening(options.pushServicePort, (port) =>
      startPushService({ port, nowMs, subscriptionFile }),
    );
    stops.push(() => pushService.stop());
    const dynamodb = await startDynamoDb({ engine, dataDir });
    stops.push(dynamodb.stop);
    signal?.throwIfAborted();

    const assembly = options.assembly ?? (await mkdtemp(join(tmpdir(), 'carillon-')));
    if (options.assembly === undefined) {
      stops.push(() => rm(assembly, { recursive: true }));
      const { context } = options;
      const onSynthesis = () => onStep('Synthesizing the stack');
      await provideAssembly({ directory: assembly, context, signal, onSynthesis });
    }
    signal?.throwIfAborted();

    onStep('Creating the tables');
    const values = { PUBLIC_BASE_URL: gateway.origin, ...options.environment };
    const running = await startEmulator({
      ...options,
      assembly,
      gateway,
      dynamodb,
      environment: (template) => localVariables(template, values, pushService.origin),
    });
    emulator = running;
    stops.push(running.stop);
    const { functions, environments, lambdaEndpoint } = running;
    return {
      /** URL of the API, without a trailing slash. */
      baseUrl: gateway.origin,
      pushService,
      dynamodb: {
        endpoint: dynamodb.endpoint,
        engine: dynamodb.engine,
        ended: dynamodb.ended,
        tables: tableNames(environments.values()),
      },
      /** The settings as the functions have them. */
      settings: settingValues(environments.values()),
      /** Address of the Lambda API. */
      lambdaEndpoint,
      functions,
      environments,
      /** Freezes all functions, as {@link Emulator.freeze} does. The push service forgets connections too. */
      freeze: (pauseMs: number, then: AfterForgetting) => ({
        ...running.freeze(pauseMs, then),
        pushService: pushService.forgetConnections(then),
      }),
      /** Stops everything in reverse order of its start. */
      stop,
    };
  } catch (error) {
    await stop();
    if (!(error instanceof UnusableDataError)) throw error;
    throw new Error(`${error.message} Start with empty tables: npm start -- --reset`);
  }
}

/** @throws {Error} with one line. */
async function removeDataDirectory(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(({ message }: Error) => {
    throw new Error(`Cannot remove the data directory: ${message}`);
  });
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

/** The variables of a function in the local stack: these values, where the template has the variable. */
function localVariables(template: Variables, values: object, pushOrigin: string): Variables {
  const known = Object.entries(values).filter(([name]) => name in template);
  const variables: Record<string, string> = { ...template, ...Object.fromEntries(known) };
  const { EXTRA_PUSH_ORIGINS: origins } = variables;
  if (origins === undefined) return variables;
  const all = [...origins.split(',').filter(Boolean), pushOrigin];
  return { ...variables, EXTRA_PUSH_ORIGINS: all.join(',') };
}

/** Table names by the environment variable that contains them. */
export type TableNames = Readonly<Record<TableVariable, string>>;

export function tableNames(environments: Iterable<Variables>): TableNames {
  const variables = [...environments].flatMap((environment) => Object.entries(environment));
  return Object.fromEntries(variables.filter(([name]) => name.endsWith('_TABLE'))) as TableNames;
}

/** The operator's settings, as environment variables. Those that no function has have no effect here. */
export type SettingValues = Readonly<Partial<Record<keyof DeployedSettings, string>>>;

/** The operator's settings among the variables of functions. */
export function settingValues(environments: Iterable<Variables>): SettingValues {
  const variables: Record<string, string> = Object.assign({}, ...environments);
  return Object.fromEntries(settingNames.map((name) => [name, variables[name]])) as SettingValues;
}
