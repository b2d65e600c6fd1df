import {
  BatchWriteCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { sendRepeatedly } from '../../lambdas/store/dynamo.ts';
import { clientWith } from '../fixtures/client-with.ts';
import { type DatabaseCommand, tables } from './database/memory-database.ts';
import type { Invocation } from './invocation.ts';
import type { World } from './world.ts';

/** As in `lambdas/store/dynamo.ts`. */
const maxTries = 3;
const requestTimeoutMs = 2000;
/** Longer than the functions pause before they repeat a call that has failed. */
const pauseMs = 1000;

/** What becomes of one try of a call. */
const fates = [
  'crash before a call',
  'throttled',
  'conflict',
  'lost call',
  'lost response',
  'late write',
  'endless call',
  'crash after a call',
] as const;
type Fate = (typeof fates)[number];

/** What becomes of the call that is picked. `cut off`: nor do later ones of this function arrive. */
const pickedFates = [
  'crash before a call',
  'crash after a call',
  'lost call',
  'lost response',
  'endless call',
  'cut off',
  'cut off from a table',
] as const satisfies readonly (Fate | 'cut off' | 'cut off from a table')[];

/**
 * A client of the database, with the repetitions of the functions' own.
 * @param running the invocation that makes a call.
 */
export function databaseClient(
  world: World,
  running: () => Invocation,
  conflictRetries?: number,
): DynamoDBDocumentClient {
  const client = clientWith(
    (command: DatabaseCommand, { abortSignal }: { abortSignal?: AbortSignal } = {}) => {
      const run = running();
      const calledAt = world.now;
      return sendRepeatedly(
        { input: command.input, isTransaction: command instanceof TransactWriteCommand },
        (input) => {
          const sent = withToken(world, withInput(command, input));
          return call(world, run, sent, calledAt, abortSignal);
        },
        {
          sleep: run.sleep,
          random: () => run.random.next(),
          newToken: () => world.nextToken(),
          conflictRetries,
        },
      );
    },
  );
  // For requests to Lambda's API, which are signed.
  return Object.assign(client, { config: unsigned });
}

const unsigned = {
  region: async () => 'eu-west-1',
  credentials: async () => ({ accessKeyId: 'key', secretAccessKey: 'secret' }),
  sha256: class {
    update(): void {}
    digest = async () => new Uint8Array(32);
  },
};

/** One call of the SDK: up to three tries. */
function call(
  world: World,
  run: Invocation,
  command: DatabaseCommand,
  calledAt: number,
  signal: AbortSignal | undefined,
): Promise<object> {
  const { random } = run;
  const { scheduler, faults, database } = world;
  const what = () => described(command);
  const used = tablesOf(command);
  const kind = kindOf(run, command);
  world.called(`${run.name}: ${kind} ${itemOf(command)}`);
  const isOfDelivery = used.includes(tables.deliveries) || used.includes(tables.notifications);
  const picked = world.isPicked(kind, isOfDelivery) ? random.pick(pickedFates) : undefined;
  if (picked !== undefined) run.note(() => `picked: ${picked}`);
  if (picked?.startsWith('cut off')) {
    const table = picked === 'cut off' ? undefined : used[0];
    run.cutOff(0, random.pick([3000, 30_000, Number.POSITIVE_INFINITY]), table);
  }
  return new Promise((resolve, reject) => {
    let isSettled = false;
    const settle = (outcome: CallOutcome, isFault: boolean) => {
      if (isSettled || !run.isAlive) return;
      isSettled = true;
      signal?.removeEventListener('abort', abort);
      run.hasLostCall = isFault;
      if (isSliceWrite(command)) {
        const { id } = (command.input as { readonly Key: { readonly id: string } }).Key;
        run.sliceWrites.push({ id, calledAt, isLost: isFault });
      }
      if ('error' in outcome) reject(outcome.error);
      else resolve(outcome.value);
    };
    const fail = (name: string) => {
      if (!isSettled) run.note(() => `${name}: ${what()}`);
      settle({ error: errorNamed(name) }, true);
    };
    const abort = () => fail('AbortError');
    const execute = (): CallOutcome => {
      world.caller = { run: run.name, requestId: run.requestId, calledAt };
      try {
        return { value: database.execute(command) };
      } catch (error) {
        return { error };
      } finally {
        world.caller = undefined;
      }
    };
    const tryOnce = (number: number): void => {
      if (isSettled || !run.isAlive) return;
      const fate = (picked?.startsWith('cut off') ? undefined : picked) ?? fateOf();
      const isSlow = faults.occurs('slow call');
      const there = isSlow ? random.latency(50, 1500) : random.latency(1, 30);
      const back = random.between(1, 5);
      if (isSlow) run.disturb(there);
      if (fate !== undefined) run.note(() => `${fate}: ${what()}`);
      const failsIn = (ms: number, error: string) => {
        run.disturb(ms + pauseMs);
        run.after(ms, () => (number === maxTries ? fail(error) : tryOnce(number + 1)));
      };
      switch (fate) {
        case 'crash before a call':
          run.die(`before ${what()}`);
          break;
        case 'throttled':
          failsIn(there + back + random.between(0, 50 * 2 ** number), 'ThrottlingException');
          break;
        case 'conflict':
          run.disturb(pauseMs);
          run.after(there + back, () => settle({ error: conflictOf(command) }, true));
          break;
        case 'lost call':
          failsIn(requestTimeoutMs, 'TimeoutError');
          break;
        case 'lost response':
          scheduler.after(there, execute);
          failsIn(requestTimeoutMs, 'TimeoutError');
          break;
        case 'late write':
          scheduler.after(requestTimeoutMs + random.latency(10, 10_000), () => {
            run.note(() => `arrives late: ${what()}`);
            execute();
          });
          failsIn(requestTimeoutMs, 'TimeoutError');
          break;
        case 'endless call':
          // Its response begins, and stalls again and again.
          run.disturb(requestTimeoutMs * maxTries);
          if (random.chance(0.5)) scheduler.after(there, execute);
          failsIn(requestTimeoutMs * maxTries, 'TimeoutError');
          break;
        default:
          scheduler.after(there, () => {
            const outcome = execute();
            run.note(() => `${what()}${'error' in outcome ? `: ${nameOf(outcome.error)}` : ''}`);
            if (fate === 'crash after a call') run.die(`after ${what()}`);
            if (run.isCutOff(used)) failsIn(requestTimeoutMs, 'TimeoutError');
            else run.after(back, () => settle(outcome, false));
          });
      }
    };
    const fateOf = (): Fate | undefined => {
      if (faults.occurs('crash before a call')) return 'crash before a call';
      if (world.isInOutage(used, isRead(command)) || faults.occurs('throttled')) return 'throttled';
      if (isWrite(command) && faults.occurs('conflict')) return 'conflict';
      if (run.isCutOff(used)) return 'lost call';
      const others = ['lost call', 'lost response', 'late write', 'endless call'] as const;
      const other = others.find((fault) => faults.occurs(fault));
      return other ?? (faults.occurs('crash after a call') ? 'crash after a call' : undefined);
    };
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort);
    tryOnce(1);
  });
}

/** Calls of one kind do the same: they change the same attributes of the same tables. */
function kindOf(run: Invocation, command: DatabaseCommand): string {
  const { ExpressionAttributeNames: names = {} } = command.input as {
    ExpressionAttributeNames?: object;
  };
  return [run.kind, command.constructor.name, ...tablesOf(command), ...Object.keys(names)].join();
}

/** What tells calls of one kind apart: the key of an item, and how far its slice is; or the values of a query. */
function itemOf({ input }: DatabaseCommand): string {
  const { Key, ExpressionAttributeValues: values = {} } = input as {
    readonly Key?: object;
    readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
  };
  if (Key === undefined) return Object.values(values).join();
  return [...Object.values(Key), values[':position'] ?? ''].join();
}

/** The same command for another input. */
export function withInput(command: DatabaseCommand, input: object): DatabaseCommand {
  return input === command.input ? command : Object.assign(Object.create(command), { input });
}

/** The SDK creates a token for each call whose input has none. */
function withToken(world: World, command: DatabaseCommand): DatabaseCommand {
  if (!(command instanceof TransactWriteCommand)) return command;
  return withInput(command, { ClientRequestToken: world.nextToken(), ...command.input });
}

function tablesOf({ input }: DatabaseCommand): readonly string[] {
  const {
    TableName,
    RequestItems = {},
    TransactItems = [],
  } = input as {
    readonly TableName?: string;
    readonly RequestItems?: object;
    readonly TransactItems?: readonly Record<string, { readonly TableName: string }>[];
  };
  const inTransaction = TransactItems.flatMap((item) => Object.values(item));
  return [
    ...(TableName === undefined ? [] : [TableName]),
    ...Object.keys(RequestItems),
    ...inTransaction.map((write) => write.TableName),
  ];
}

function isRead(command: DatabaseCommand): boolean {
  return !isWrite(command) && !(command instanceof BatchWriteCommand);
}

function isWrite(command: DatabaseCommand): boolean {
  return (
    command instanceof TransactWriteCommand ||
    command instanceof UpdateCommand ||
    command instanceof PutCommand ||
    command instanceof DeleteCommand
  );
}

/** Whether a command is the write of a lease. */
export function isSliceWrite(command: DatabaseCommand): boolean {
  if (!(command instanceof UpdateCommand)) return false;
  const { TableName, ExpressionAttributeNames: names = {} } = command.input;
  return TableName === tables.deliveries && '#leasedBy' in names;
}

/** What the SDK throws for a write of an item that another transaction is writing. */
function conflictOf(command: DatabaseCommand): Error {
  if (!(command instanceof TransactWriteCommand)) return errorNamed('TransactionConflictException');
  const { TransactItems } = command.input as TransactWriteCommandInput;
  const CancellationReasons = TransactItems!.map((_, index) => ({
    Code: index === 0 ? 'TransactionConflict' : 'None',
  }));
  return Object.assign(errorNamed('TransactionCanceledException'), { CancellationReasons });
}

function errorNamed(name: string): Error {
  return Object.assign(new Error('Simulated.'), { name });
}

type CallOutcome = { readonly value: object } | { readonly error: unknown };

/** A command in a line of the trace. */
function described(command: DatabaseCommand): string {
  const input = command.input as {
    readonly TableName?: string;
    readonly Key?: object;
    readonly TransactItems?: Record<string, { TableName: string; Key?: object; Item?: object }>[];
    readonly ExpressionAttributeValues?: object;
  };
  const name = command.constructor.name.replace('Command', '');
  if (input.TransactItems !== undefined) {
    const writes = input.TransactItems.map((item) => Object.entries(item)[0]!);
    return `${name} ${writes.map(([kind, { TableName }]) => `${kind} ${TableName}`).join(', ')}`;
  }
  const values = text(input.ExpressionAttributeValues);
  return [name, input.TableName, text(input.Key), values].filter(Boolean).join(' ');
}

function text(value: object | undefined): string {
  if (value === undefined) return '';
  return JSON.stringify(value, (_, inner) => {
    // A Buffer comes as its own JSON.
    const bytes = ArrayBuffer.isView(inner) ? inner.buffer : inner?.type === 'Buffer' && inner.data;
    return bytes ? Buffer.from(bytes).toString('hex', 0, 4) : inner;
  });
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : String(error);
}
