import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type {
  IdentityProject,
  Project,
  ProjectRef,
  SigningProject,
} from '../../contract/wire/project.ts';
import {
  identityProjectStore,
  type ProjectStore,
  signingProjectStore,
} from '../../lambdas/store/projects.ts';
import { clientWith } from '../fixtures/client-with.ts';
import { tables } from './database/memory-database.ts';
import { FunctionRun, type RunOutcome } from './function-run.ts';
import type { World } from './world.ts';

/** Most by which the clocks of two functions differ. */
const clocksDifferMs = 1000;

/** An environment of a function: its clock, and what it remembers from one invocation to the next. */
export class Environment {
  readonly dynamo: DynamoDBDocumentClient;
  readonly signingProjects: ProjectStore<SigningProject>;
  readonly identityProjects: ProjectStore<IdentityProject>;
  readonly clockOffsetMs: number;
  run: FunctionRun | undefined;

  constructor(world: World) {
    const { faults, scheduler } = world;
    this.clockOffsetMs = faults.occurs('clock differs')
      ? world.stream('clocks').integer(-clocksDifferMs / 2, clocksDifferMs / 2)
      : 0;
    const clock = () => new Date(scheduler.now + this.clockOffsetMs);
    this.dynamo = clientWith((command, options) =>
      this.run!.dynamo().send(command, options),
    ) as DynamoDBDocumentClient;
    this.signingProjects = watched(world, signingProjectStore(this.dynamo, tables, clock));
    this.identityProjects = watched(world, identityProjectStore(this.dynamo, tables, clock));
  }
}

/** A store of projects. Whether it finds one again that it has found removed, the world is told. */
function watched<Found extends Project>(
  world: World,
  store: ProjectStore<Found>,
): ProjectStore<Found> {
  const removed = new Set<ProjectRef>();
  let last: ProjectRef | undefined;
  const watch = async (find: Promise<Found | undefined>) => {
    const removedBefore = new Set(removed);
    const found = await find;
    if (found !== undefined && removedBefore.has(found.ref)) world.revivals.push(found.projectId);
    if (found?.ref !== last && last !== undefined) removed.add(last);
    last = found?.ref ?? last;
    return found;
  };
  return {
    ...store,
    find: (...call) => watch(store.find(...call)),
    refresh: (...call) => watch(store.refresh(...call)),
  };
}

/** Runs functions, each invocation in an environment that no other one uses at that time. */
export class Environments {
  readonly #world: World;
  readonly #idle = new Map<string, Environment[]>();
  readonly #onEnd: (run: FunctionRun) => void;

  /** @param onEnd is called when a function has ended, however. */
  constructor(world: World, onEnd: (run: FunctionRun) => void) {
    this.#world = world;
    this.#onEnd = onEnd;
  }

  async run<Result>(
    kind: string,
    requestId: string,
    timeoutMs: number,
    body: (run: FunctionRun, environment: Environment) => Promise<Result>,
    onStart: (run: FunctionRun) => void = () => {},
  ): Promise<RunOutcome<Result>> {
    const random = this.#world.stream(`environments of ${kind}`);
    const idle = this.#idle.get(kind) ?? [];
    this.#idle.set(kind, idle);
    const environment =
      (random.chance(0.7) ? idle.pop() : undefined) ?? new Environment(this.#world);
    const run = new FunctionRun(this.#world, kind, requestId, environment.clockOffsetMs);
    environment.run = run;
    onStart(run);
    const outcome = await run.start(() => body(run, environment), timeoutMs);
    // Lambda replaces an environment whose function has died.
    if (outcome.kind !== 'died') idle.push(environment);
    this.#onEnd(run);
    return outcome;
  }
}
