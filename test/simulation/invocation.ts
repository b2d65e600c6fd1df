import { tables } from './database/memory-database.ts';
import type { Random } from './time/random.ts';
import { type Timers, timers } from './time/timers.ts';
import type { EndedWrite, Span, World } from './world.ts';

/** How a function ended. */
export type Outcome<Result> =
  | { readonly kind: 'returned'; readonly value: Result }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'died' };

/** In place of a request, of the operator's commands. */
export const operator = 'operator';

/** Longest time for which a function stands still. */
const longestPauseMs = 150_000;

/**
 * One invocation of a function, or one of the operator's commands. Once it has ended or crashed, it does nothing. Calls
 * that it has already made may still arrive.
 */
export class Invocation implements Timers {
  readonly name: string;
  /** The function, and the request that it works for. */
  readonly kind: string;
  readonly requestId: string;
  /** For its calls, and what its code is given. */
  readonly random: Random;
  readonly sleep: Timers['sleep'];
  readonly abortAfter: Timers['abortAfter'];
  /** Its writes of slices, in the order in which they ended. */
  readonly sliceWrites: EndedWrite[] = [];
  /** The messages of the lines that it has logged. */
  readonly logs = new Set<string>();
  /** Whether a fault was the end of its last call to the database. */
  hasLostCall = false;
  readonly #world: World;
  readonly #startedAt: number;
  /** The spans in which it has no connection to the database, or to this table of it. */
  readonly #cutOff: (Span & { readonly table: string | undefined })[] = [];
  /** When it stands still. */
  #pause: Span | undefined;
  #isAlive = true;
  #onDeath = () => {};

  constructor(world: World, kind: string, requestId: string) {
    this.#world = world;
    this.#startedAt = world.now;
    this.kind = kind;
    this.name = world.nextRun(kind);
    this.requestId = requestId;
    this.random = world.stream(this.name);
    const { sleep, abortAfter } = timers((ms, act) => void this.after(ms, act));
    this.sleep = sleep;
    this.abortAfter = abortAfter;
  }

  /** Whether a fault was the end of its last write of a slice. */
  get hasLostWrite(): boolean {
    return this.sliceWrites.at(-1)?.isLost ?? false;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Does something later, if the function is still there. @returns what prevents it. */
  readonly after = (ms: number, act: () => void): (() => void) => {
    let isWanted = true;
    const { scheduler } = this.#world;
    const happen = (): void => {
      if (!this.#isAlive || !isWanted) return;
      const pauseMs = (this.#pause?.to ?? 0) - scheduler.now;
      if (pauseMs > 0) scheduler.after(pauseMs, happen);
      else act();
    };
    scheduler.after(ms, happen);
    return () => {
      isWanted = false;
    };
  };

  note(text: () => string): void {
    this.#world.note(this.name, text);
  }

  /** A fault takes this much of the time of its request, at most. */
  disturb(ms: number): void {
    if (ms <= 0) return;
    const { now } = this.#world;
    this.#world.disturb(this.requestId, { from: now, to: now + ms });
  }

  die(reason: string): void {
    if (!this.#isAlive) return;
    this.disturb(Number.POSITIVE_INFINITY);
    this.note(() => `died: ${reason}`);
    this.#end(reason);
    this.#onDeath();
  }

  /** Runs the function's code until it ends, dies, or Lambda ends it. */
  start<Result>(body: () => Promise<Result>, timeoutMs: number): Promise<Outcome<Result>> {
    const { faults } = this.#world;
    const isFunction = this.requestId !== operator;
    return new Promise((resolve) => {
      this.#onDeath = () => resolve({ kind: 'died' });
      const end = (outcome: Outcome<Result>) => {
        if (!this.#isAlive) return;
        this.#end(undefined);
        resolve(outcome);
      };
      // Also while it stands still.
      this.#world.scheduler.after(timeoutMs, () => {
        if (!this.#isAlive) return;
        if (this.#pause === undefined && isFunction) this.#world.timeOuts.push(this.name);
        this.die('its time is over');
      });
      if (faults.occurs('crash while pushing')) {
        this.after(this.random.latency(20), () => this.die('crash'));
      }
      if (faults.occurs('function paused')) {
        this.after(this.random.latency(20, 20_000), () => {
          const ms = this.random.latency(500, longestPauseMs);
          this.note(() => `stands still for ${ms.toFixed(0)} ms`);
          this.disturb(ms);
          this.#pause = { from: this.#world.now, to: this.#world.now + ms };
        });
      }
      const someCutOff = (table?: string) =>
        this.cutOff(
          this.random.latency(20, 20_000),
          this.random.pick([2000, 10_000, 100_000, Number.POSITIVE_INFINITY]),
          table,
        );
      if (faults.occurs('cut off')) someCutOff();
      if (faults.occurs('cut off from a table')) {
        someCutOff(this.random.pick(Object.values(tables)));
      }
      body().then(
        (value) => end({ kind: 'returned', value }),
        (error: unknown) => end({ kind: 'threw', error }),
      );
    });
  }

  /** It loses its connection to the database, or to this table, some ms from now. */
  cutOff(inMs: number, ms: number, table?: string): void {
    const from = this.#world.now + inMs;
    this.#cutOff.push({ from, to: from + ms, table });
    this.after(inMs, () => {
      this.note(() => `is cut off from ${table ?? 'the database'} for ${ms} ms`);
      this.disturb(ms);
    });
  }

  /** Whether it has no connection to one of these tables now. */
  isCutOff(used: readonly string[]): boolean {
    const { now } = this.#world;
    return this.#cutOff.some(
      ({ from, to, table }) =>
        from <= now && now < to && (table === undefined || used.includes(table)),
    );
  }

  /** A crash of the function at this await. @returns whether it has died. */
  crashes(fault: 'crash before a call' | 'crash after a call', what: () => string): boolean {
    if (!this.#world.faults.occurs(fault)) return false;
    this.die(`${fault}, ${what()}`);
    return true;
  }

  #end(death: string | undefined): void {
    this.#isAlive = false;
    const { name, requestId, sliceWrites, logs, hasLostCall: isWithoutDatabase } = this;
    const span = { from: this.#startedAt, to: this.#world.now };
    this.#world.ended.set(name, {
      ...{ ...span, requestId, death, sliceWrites, logs, isWithoutDatabase, pause: this.#pause },
    });
  }
}
