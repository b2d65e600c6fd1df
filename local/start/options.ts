import { type DynamoDbEngine, dynamoDbEngines } from '../dynamodb/dynamodb.ts';

export interface StartOptions {
  readonly port: number;
  readonly dataDir: string | undefined;
  /** The CDK app's setting with this name. */
  readonly extraPushOrigins: string | undefined;
  readonly engine: DynamoDbEngine | undefined;
}

export const startHelp = `Runs the whole service on this machine, from the stack that would be deployed.

  npm start

Settings are environment variables:

  PORT                port of the API (default: 4000); the local push service uses the next port
  DATA_DIR            directory of the tables (default: in memory)
  EXTRA_PUSH_ORIGINS  origins of further push services, separated by commas
  DDB_ENGINE          ${dynamoDbEngines.join(' or ')} (default: the first that can run on this machine)
`;

const defaultPort = 4000;

/**
 * Reads the settings of `npm start`. An empty setting is treated as not set.
 * @throws {Error} for the first invalid setting.
 */
export function readStartOptions(env: Readonly<NodeJS.ProcessEnv>): StartOptions {
  return {
    port: readPort(env.PORT || String(defaultPort)),
    dataDir: env.DATA_DIR || undefined,
    extraPushOrigins: env.EXTRA_PUSH_ORIGINS || undefined,
    engine: readEngine(env.DDB_ENGINE || undefined),
  };
}

/** @throws {Error} if the engine is unknown. */
export function readEngine(text: string | undefined): DynamoDbEngine | undefined {
  const engine = dynamoDbEngines.find((name) => name === text);
  if (text !== undefined && engine === undefined) {
    throw new Error(`DDB_ENGINE must be ${dynamoDbEngines.join(' or ')}; it is "${text}".`);
  }
  return engine;
}

function readPort(text: string): number {
  const port = Number(text);
  // The push service uses the next port, so 65535 is too high.
  if (!/^\d+$/.test(text) || port < 1 || port > 65_534) {
    throw new Error(`PORT must be a whole number from 1 to 65534; it is "${text}".`);
  }
  return port;
}
