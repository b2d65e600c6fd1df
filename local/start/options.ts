import { type DynamoDbEngine, dynamoDbEngines } from '../dynamodb/dynamodb.ts';

export interface StartOptions {
  readonly port: number;
  readonly dataDir: string | undefined;
  /** As the CDK app's setting of that name. */
  readonly extraPushOrigins: string | undefined;
  readonly engine: DynamoDbEngine | undefined;
}

export const startHelp = `Runs the whole service on this machine, from the same stack that is deployed.

  npm start

Settings are environment variables:

  PORT                where the API answers, 4000 where absent; the local push service
                      takes the port after it
  DATA_DIR            directory to keep projects and subscriptions in; in memory where absent
  EXTRA_PUSH_ORIGINS  origins of further push services, separated by commas
  DDB_ENGINE          ${dynamoDbEngines.join(' or ')}; the first that this machine has where absent
`;

const defaultPort = 4000;

/**
 * Reads the settings of `npm start`; an empty one counts as absent.
 * @throws {Error} one sentence, for the first setting that is wrong.
 */
export function readStartOptions(env: Readonly<NodeJS.ProcessEnv>): StartOptions {
  return {
    port: readPort(env.PORT || String(defaultPort)),
    dataDir: env.DATA_DIR || undefined,
    extraPushOrigins: env.EXTRA_PUSH_ORIGINS || undefined,
    engine: readEngine(env.DDB_ENGINE || undefined),
  };
}

/** @throws {Error} */
export function readEngine(text: string | undefined): DynamoDbEngine | undefined {
  const engine = dynamoDbEngines.find((name) => name === text);
  if (text !== undefined && engine === undefined) {
    throw new Error(`DDB_ENGINE must be ${dynamoDbEngines.join(' or ')}; it is "${text}".`);
  }
  return engine;
}

function readPort(text: string): number {
  const port = Number(text);
  // The next one is the push service's.
  if (!/^\d+$/.test(text) || port < 1 || port > 65_534) {
    throw new Error(`PORT must be a whole number from 1 to 65534; it is "${text}".`);
  }
  return port;
}
