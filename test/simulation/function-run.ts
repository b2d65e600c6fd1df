import {
  BatchWriteCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { sendRepeatedly } from '../../lambdas/store/dynamo.ts';
import { clientWith } from '../fixtures/client-with.ts';
import type { DatabaseCommand } from './database/memory-database.ts';
import type { Random } from './time/random.ts';
import { type Timers, timers } from './time/timers.ts';
import type { World } from './world.ts';

/** How a function ended. */
export type RunOutcome<Result> =
  | { readonly kind: 'returned'; readonly value: Result }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'died' };

/** As in `lambdas/store/dynamo.ts`. */
const maxAttempts = 3;
const requestTimeoutMs = 2000;
/** Time in which a function stores what it has done last. */
const lastWritesMs = 3000;
/** Longer than the functions pause before they repeat a call that has failed. */
const pauseMs = 1000;

/**
 * One invocation of a function. Once it has ended or crashed, it does nothing. Calls that it has already made may
 * still arrive.
 */
export class FunctionRun implements Timers {
  readonly name: string;
  /** The request that it works for. */
  readonly requestId: string;
  /** For its calls, and what its code is given. */
  readonly random: Random;
  readonly draw = () => this.random.next();
  readonly #world: World;
  readonly #clockOffsetMs: number;
  readonly sleep: Timers['sleep'];
  readonly abortAfter: Timers['abortAfter'];
  /** Epoch ms from which on, and until which it has no connection to the database. */
  #cutOff = { from: Number.POSITIVE_INFINITY, to: 0 };
  /** Epoch ms until which a fault has kept it from the database last. */
  #failsUntil = 0;
  #isAlive = true;
  #onDeath = () => {};

  /** @param clockOffsetMs by which its clock differs from the time. */
  constructor(world: World, kind: string, requestId: string, clockOffsetMs = 0) {
    this.#world = world;
    this.#clockOffsetMs = clockOffsetMs;
    this.name = world.nextRun(kind);
    this.requestId = requestId;
    this.random = world.stream(this.name);
    const { sleep, abortAfter } = timers((ms, act) => this.after(ms, act));
    this.sleep = sleep;
    this.abortAfter = abortAfter;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  readonly clock = (): Date => new Date(this.#world.scheduler.now + this.#clockOffsetMs);

  /** Does something later, if the function is still there. */
  after(ms: number, act: () => void): void {
    this.#world.scheduler.after(ms, () => {
      if (this.#isAlive) act();
    });
  }

  note(text: () => string): void {
    this.#world.note(this.name, text);
  }

  /** A fault takes this much of the time of its request, at most. */
  delay(ms: number): void {
    this.#world.delay(this.requestId, ms);
  }

  die(reason: () => string): void {
    if (!this.#isAlive) return;
    this.delay(Number.POSITIVE_INFINITY);
    this.#world.unheard.add(this.requestId);
    this.note(() => `died: ${reason()}`);
    this.#isAlive = false;
    this.#onDeath();
  }

  /** Runs the function's code until it ends, dies, or Lambda ends it. */
  start<Result>(body: () => Promise<Result>, timeoutMs: number): Promise<RunOutcome<Result>> {
    const { faults, scheduler } = this.#world;
    return new Promise((resolve) => {
      this.#onDeath = () => resolve({ kind: 'died' });
      const end = (outcome: RunOutcome<Result>) => {
        if (!this.#isAlive) return;
        this.#isAlive = false;
        if (this.#failsUntil > scheduler.now - lastWritesMs)
          this.#world.unheard.add(this.requestId);
        resolve(outcome);
      };
      this.after(timeoutMs, () => {
        this.#world.timeOuts.push(this.name);
        this.die(() => 'its time is over');
      });
      if (faults.occurs('crash while pushing')) {
        this.after(this.random.latency(20), () => this.die(() => 'crash'));
      }
      if (faults.occurs('cut off')) {
        const from = scheduler.now + this.random.latency(20, 20_000);
        const ms = this.random.pick([2000, 10_000, 100_000, Number.POSITIVE_INFINITY]);
        this.#cutOff = { from, to: from + ms };
        this.delay(ms);
        // Another function may have taken its slice over meanwhile.
        if (ms > sliceTimeline.leaseMs) this.#world.unheard.add(this.requestId);
      }
      body().then(
        (value) => end({ kind: 'returned', value }),
        (error: unknown) => end({ kind: 'threw', error }),
      );
    });
  }

  /** Whether it has no connection to the database now. */
  get isCutOff(): boolean {
    const { now } = this.#world.scheduler;
    return this.#cutOff.from <= now && now < this.#cutOff.to;
  }

  /** A crash of the function at this await. @returns whether it has died. */
  crashes(fault: 'crash before a call' | 'crash after a call', what: () => string): boolean {
    if (!this.#world.faults.occurs(fault)) return false;
    this.die(() => `${fault}, ${what()}`);
    return true;
  }

  /** A client of the database, with the repetitions of the functions' own. */
  dynamo(): DynamoDBDocumentClient {
    const parts = {
      sleep: this.sleep,
      random: this.draw,
      newToken: () => this.#world.nextToken(),
    };
    const send = (command: DatabaseCommand, { abortSignal }: { abortSignal?: AbortSignal } = {}) =>
      sendRepeatedly(
        { input: command.input, isTransaction: command instanceof TransactWriteCommand },
        (input) => this.#call(withInput(command, input), abortSignal),
        parts,
      );
    return clientWith(send);
  }

  /** One call of the SDK: up to three attempts, and a token for a transaction that has none. */
  #call(given: DatabaseCommand, signal: AbortSignal | undefined): Promise<object> {
    const { random } = this;
    const { scheduler, faults, database } = this.#world;
    const command = withToken(given, () => this.#world.nextToken());
    const what = () => described(command);
    this.#world.called(`${this.name}: ${what()}`);
    return new Promise((resolve, reject) => {
      let isSettled = false;
      const settle = (outcome: CallOutcome) => {
        if (isSettled || !this.#isAlive) return;
        isSettled = true;
        signal?.removeEventListener('abort', abort);
        if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.value);
      };
      const giveUp = (name: string) => {
        if (!isSettled) this.note(() => `${name}: ${what()}`);
        settle({ error: errorNamed(name) });
      };
      const abort = () => giveUp('AbortError');
      const execute = (): CallOutcome => {
        this.#world.caller = this.name;
        try {
          return { value: database.execute(command) };
        } catch (error) {
          return { error };
        } finally {
          this.#world.caller = undefined;
        }
      };
      const attempt = (number: number): void => {
        if (isSettled || !this.#isAlive) return;
        if (this.crashes('crash before a call', what)) return;
        const retry = (ms: number, error: string) => {
          this.delay(ms + pauseMs);
          this.#failsUntil = scheduler.now + ms;
          this.after(ms, () => (number === maxAttempts ? giveUp(error) : attempt(number + 1)));
        };
        const isSlow = faults.occurs('slow call');
        const there = isSlow ? random.latency(50, 1500) : random.latency(1, 30);
        if (isSlow) this.delay(there);
        const back = random.between(1, 5);
        if (
          this.#world.isInOutage(tablesOf(command), isRead(command)) ||
          faults.occurs('throttled')
        ) {
          this.note(() => `throttled: ${what()}`);
          retry(there + back + random.between(0, 50 * 2 ** number), 'ThrottlingException');
        } else if (isWrite(command) && faults.occurs('conflict')) {
          this.note(() => `conflict: ${what()}`);
          this.delay(pauseMs);
          this.#failsUntil = scheduler.now;
          this.after(there + back, () => settle({ error: conflictOf(command) }));
        } else if (this.isCutOff || faults.occurs('lost call')) {
          this.note(() => `lost call: ${what()}`);
          retry(requestTimeoutMs, 'TimeoutError');
        } else if (faults.occurs('lost response')) {
          scheduler.after(there, () => {
            execute();
            this.note(() => `lost response: ${what()}`);
          });
          retry(requestTimeoutMs, 'TimeoutError');
        } else if (faults.occurs('late write')) {
          scheduler.after(requestTimeoutMs + random.latency(10, 10_000), () => {
            execute();
            this.note(() => `late: ${what()}`);
          });
          retry(requestTimeoutMs, 'TimeoutError');
        } else {
          scheduler.after(there, () => {
            const outcome = execute();
            this.note(() => `${what()}${'error' in outcome ? `: ${nameOf(outcome.error)}` : ''}`);
            if (this.#isAlive && this.crashes('crash after a call', what)) return;
            if (this.isCutOff) retry(requestTimeoutMs, 'TimeoutError');
            else scheduler.after(back, () => settle(outcome));
          });
        }
      };
      if (signal?.aborted) return abort();
      signal?.addEventListener('abort', abort);
      attempt(1);
    });
  }
}

/** The same command for another input. */
export function withInput(command: DatabaseCommand, input: object): DatabaseCommand {
  return input === command.input ? command : Object.assign(Object.create(command), { input });
}

/** The SDK creates a token for each call whose input has none. */
function withToken(command: DatabaseCommand, newToken: () => string): DatabaseCommand {
  if (!(command instanceof TransactWriteCommand)) return command;
  return withInput(command, { ClientRequestToken: newToken(), ...command.input });
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
    command instanceof DeleteCommand
  );
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
  return JSON.stringify(value, (_, inner) =>
    inner?.type === 'Buffer' ? Buffer.from(inner.data).toString('hex', 0, 4) : inner,
  );
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : String(error);
}
