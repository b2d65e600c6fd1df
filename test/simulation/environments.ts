import type { Logger } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import type { Host } from '../../lambdas/host.ts';
import { databaseClient } from './database-calls.ts';
import { type Handler, handlerOf, type SimulatedFunction, timeoutMsOf } from './handlers.ts';
import { Invocation, type Outcome } from './invocation.ts';
import type { World } from './world.ts';

/** Most by which the clocks of two functions differ. */
const clocksDifferMs = 1000;

/** Completes a host by what is not of its environment: variables and the network. */
type Complete = (host: Omit<Host, 'variables'>, running: () => Invocation) => Host;

/** An environment of a function: its clocks, its connections, and what it remembers from one invocation to the next. */
class Environment {
  readonly #world: World;
  readonly #name: SimulatedFunction;
  readonly #handler: Handler;
  /** Difference of the wall clock from the time, before it is set. */
  readonly #clockOffsetMs: number;
  /** The span of its invocation, and ms that it has run before. */
  #thawedAt = 0;
  #ranMs = 0;
  /** When the wall clock is set meanwhile, and by how much. */
  #clockSet = { at: 0, byMs: 0 };
  #run: Invocation | undefined;

  constructor(world: World, name: SimulatedFunction, complete: Complete) {
    this.#world = world;
    this.#name = name;
    const { faults } = world;
    this.#clockOffsetMs = faults.occurs('clock differs')
      ? world.stream('clocks').integer(-clocksDifferMs / 2, clocksDifferMs / 2)
      : 0;
    const running = () => this.#run!;
    const host = {
      wallClock: () => this.#wallClock(),
      // They stand still while it is frozen.
      ticks: () => this.#ranMs + world.now - this.#thawedAt,
      sleep: (ms: number, signal?: AbortSignal) => running().sleep(ms, signal),
      after: (ms: number, act: () => void) => running().after(ms, act),
      abortAfter: (ms: number) => running().abortAfter(Math.max(0, ms)),
      random: () => running().random.next(),
      randomBytes: (length: number) =>
        Uint8Array.from({ length }, () => running().random.integer(0, 255)),
      logger: () => loggerOf(running),
      dynamo: (conflictRetries?: number) => databaseClient(world, running, conflictRetries),
    } satisfies Omit<Host, 'variables'>;
    this.#handler = handlerOf(name, complete(host, running));
  }

  /** @param onStart is told of the invocation before its code runs. */
  async invoke(
    requestId: string,
    event: unknown,
    onStart: (run: Invocation) => void,
  ): Promise<{ readonly run: Invocation; readonly outcome: Outcome<unknown> }> {
    const world = this.#world;
    const name = this.#name;
    const timeoutMs = timeoutMsOf(name);
    const startedAt = world.now;
    const run = new Invocation(world, name, requestId);
    this.#run = run;
    this.#thawedAt = startedAt;
    // The others compare times with those of functions whose clock is right.
    const isSet = (name === 'send' || name === 'deliver') && world.faults.occurs('clock set');
    this.#clockSet = {
      at: startedAt + run.random.latency(20, 20_000),
      byMs: isSet ? run.random.pick([-600_000, -5000, 5000, 600_000]) : 0,
    };
    const context = {
      awsRequestId: run.name,
      getRemainingTimeInMillis: () => Math.max(0, Math.floor(startedAt + timeoutMs - world.now)),
    } as Context;
    onStart(run);
    const outcome = await run.start(() => this.#handler(event, context), timeoutMs);
    this.#ranMs += world.now - startedAt;
    return { run, outcome };
  }

  #wallClock(): number {
    const { now } = this.#world;
    const setByMs = now < this.#clockSet.at ? 0 : this.#clockSet.byMs;
    return Math.floor(now + this.#clockOffsetMs + setByMs);
  }
}

/** Runs functions, each invocation in an environment that no other one uses at that time. */
export class Environments {
  readonly #world: World;
  readonly #complete: Complete;
  readonly #idle = new Map<string, Environment[]>();
  readonly #onEnd: (run: Invocation) => void;

  /** @param onEnd is called when a function has ended, however. */
  constructor(world: World, complete: Complete, onEnd: (run: Invocation) => void) {
    this.#world = world;
    this.#complete = complete;
    this.#onEnd = onEnd;
  }

  async invoke(
    name: SimulatedFunction,
    requestId: string,
    event: unknown,
    onStart: (run: Invocation) => void = () => {},
  ) {
    const world = this.#world;
    const idle = this.#idle.get(name) ?? [];
    this.#idle.set(name, idle);
    const isWarm = world.stream(`environments of ${name}`).chance(0.7);
    const environment =
      (isWarm ? idle.pop() : undefined) ?? new Environment(world, name, this.#complete);
    const ended = await environment.invoke(requestId, event, onStart);
    // Lambda replaces an environment whose function has died.
    if (ended.outcome.kind !== 'died') idle.push(environment);
    this.#onEnd(ended.run);
    return ended;
  }
}

/** A log whose lines are in the trace. */
function loggerOf(running: () => Invocation): Logger {
  const log = (message: string, line: { readonly error?: unknown } = {}) => {
    running().logs.add(message);
    running().note(() => `logs: ${message} ${line.error ?? JSON.stringify(line)}`);
  };
  return {
    info: log,
    warn: log,
    error: log,
    setPersistentLogAttributes() {},
    getPersistentLogAttributes: () => ({}),
  } as unknown as Logger;
}

export function described({ kind, ...outcome }: Outcome<unknown>): string {
  if ('error' in outcome) return String(outcome.error);
  return 'value' in outcome ? JSON.stringify(outcome.value) : kind;
}
