import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type DynamoDbEngine, dynamoDbEngines } from 'aws-emulator/dynamodb';

export interface StartOptions {
  readonly port: number;
  /** Directory of this port's data: the origins of the stored endpoints have the port. */
  readonly dataDir: string;
  /** The CDK app's setting with this name. */
  readonly extraPushOrigins: string | undefined;
  /** Address of a tunnel to the API: where browsers on other devices report events. */
  readonly publicBaseUrl: string | undefined;
  readonly engine: DynamoDbEngine | undefined;
  /** Whether to remove the data first. */
  readonly reset: boolean;
  /** Whether to open a Firefox that is connected to the local push service. */
  readonly browser: boolean;
}

/** A wrong call. */
export class UsageError extends Error {}

const defaultPort = 4000;
const defaultDataDir = '.carillon/data';

export const startHelp = `Runs the whole service on this machine, from the stack that would be deployed.

  npm start
  npm start -- --browser   also opens a Firefox that receives pushes without the internet
  npm start -- --reset     removes the data of earlier starts first

Settings are environment variables:

  PORT                port of the API and the console (default: 4000); the local push service uses the next
                      port, and the console the one after that if PUBLIC_BASE_URL is set
  DATA_DIR            folder of the data, one for each port (default: ${defaultDataDir})
  EXTRA_PUSH_ORIGINS  origins of further push services, separated by commas
  PUBLIC_BASE_URL     https: address of a tunnel to the API, for browsers on other devices
  FIREFOX             program of Firefox (default: firefox or firefox-esr)
  DDB_ENGINE          ${dynamoDbEngines.join(' or ')} (default: the first that can run on this machine)
`;

/**
 * Reads the arguments and settings of `npm start`. An empty setting is treated as not set.
 * @throws {UsageError} for an unknown argument.
 * @throws {Error} for the first invalid setting.
 */
export function readStartOptions(
  parameters: readonly string[],
  env: Readonly<NodeJS.ProcessEnv>,
): StartOptions {
  const port = readPort(env.PORT || String(defaultPort));
  return {
    ...readFlags(parameters),
    port,
    dataDir: join(env.DATA_DIR || defaultDataDir, String(port)),
    extraPushOrigins: env.EXTRA_PUSH_ORIGINS || undefined,
    publicBaseUrl: readPublicBaseUrl(env.PUBLIC_BASE_URL || undefined),
    engine: readEngine(env.DDB_ENGINE || undefined),
  };
}

function readFlags(parameters: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({
      args: [...parameters],
      options: { reset: flag, browser: flag },
    }).values;
  } catch {
    throw new UsageError(`npm start takes only --browser and --reset; see npm start -- --help`);
  }
}

/** @throws {Error} if the engine is unknown. */
export function readEngine(text: string | undefined): DynamoDbEngine | undefined {
  const engine = dynamoDbEngines.find((name) => name === text);
  if (text !== undefined && engine === undefined) {
    throw new Error(`DDB_ENGINE must be ${dynamoDbEngines.join(' or ')}; it is "${text}".`);
  }
  return engine;
}

function readPublicBaseUrl(text: string | undefined): string | undefined {
  if (text === undefined || /^https:\/\/[^/]+$/.test(text)) return text;
  throw new Error(
    `PUBLIC_BASE_URL must be an https: address without a path, such as https://push.your-tunnel.example; it is "${text}".`,
  );
}

function readPort(text: string): number {
  const port = Number(text);
  // The two ports after it are used too.
  if (!/^\d+$/.test(text) || port < 1 || port > 65_533) {
    throw new Error(`PORT must be a whole number from 1 to 65533; it is "${text}".`);
  }
  return port;
}
