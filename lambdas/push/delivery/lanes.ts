/** Jobs that may run at once: over all lanes, and in one of them. */
export interface LaneBounds {
  readonly overall: number;
  readonly perLane: number;
  /** With how many a lane begins, and what one whose jobs take long is held to. */
  readonly atFirst: number;
  /** What a lane is held to whose jobs go badly. */
  readonly atLeast: number;
}

export interface LaneWork<Job> {
  /** Does what of a job needs no waiting, shortly before it runs. */
  readonly prepare: (job: Job) => void;
  /** Resolves to whether it went well. Must not reject. */
  readonly run: (job: Job) => Promise<boolean>;
  /** Milliseconds, of any epoch. */
  readonly now: () => number;
}

interface Lane<Job> {
  running: number;
  /** How many may run in it now. */
  bound: number;
  readonly waiting: Job[];
  /** How many of those waiting, from the first on, are prepared. */
  prepared: number;
}

/**
 * Jobs prepared in a row. Encryption after encryption finds its tables in the processor's cache,
 * which each system call of a push between them would empty: a tenth of a push's CPU time.
 */
const inARow = 32;

/** Milliseconds within which the jobs of a lane that is well end. */
const prompt = 1000;

/**
 * Runs jobs with bounded concurrency in lanes, one for each push service. What is free goes to the
 * lane with the fewest jobs running. A lane begins with few and wins room for one more with each
 * job that ends promptly and well, so that one whose jobs take long never holds what the others could
 * use, since running jobs cannot be called back, and one whose jobs are in vain does not keep the
 * processor from theirs. Where half of all is free anyway such a lane may grow too.
 */
export class Lanes<Job> {
  readonly #bounds: LaneBounds;
  readonly #work: LaneWork<Job>;
  readonly #lanes = new Map<string, Lane<Job>>();
  #running = 0;

  constructor(bounds: LaneBounds, work: LaneWork<Job>) {
    this.#bounds = bounds;
    this.#work = work;
  }

  /** Runs a job once there is room for it. */
  enqueue(name: string, job: Job): void {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = { running: 0, bound: this.#bounds.atFirst, waiting: [], prepared: 0 };
      this.#lanes.set(name, lane);
    }
    lane.waiting.push(job);
    if (this.#hasTurn(lane)) this.#start(lane);
  }

  /** Whether any lane but this has jobs waiting for room. */
  isAnyWaitingBesides(name: string): boolean {
    for (const [other, { waiting }] of this.#lanes) {
      if (other !== name && waiting.length > 0) return true;
    }
    return false;
  }

  #hasTurn({ waiting, running, bound }: Lane<Job>): boolean {
    return waiting.length > 0 && running < bound && this.#running < this.#bounds.overall;
  }

  #start(lane: Lane<Job>): void {
    if (lane.prepared === 0) this.#prepare(lane);
    const job = lane.waiting.shift()!;
    lane.prepared -= 1;
    lane.running += 1;
    this.#running += 1;
    const since = this.#work.now();
    void this.#work.run(job).then((wentWell) => {
      lane.running -= 1;
      this.#running -= 1;
      this.#adjust(lane, wentWell, this.#work.now() - since);
      for (let next = this.#next(); next !== undefined; next = this.#next()) this.#start(next);
    });
  }

  #adjust(lane: Lane<Job>, wentWell: boolean, took: number): void {
    const { atFirst, atLeast, perLane, overall } = this.#bounds;
    const isHealthy = wentWell && took < prompt;
    if (isHealthy || this.#running < overall / 2) lane.bound = Math.min(perLane, lane.bound + 1);
    else lane.bound = Math.max(wentWell ? atFirst : atLeast, lane.bound - 1);
  }

  #next(): Lane<Job> | undefined {
    let next: Lane<Job> | undefined;
    for (const lane of this.#lanes.values()) {
      if (this.#hasTurn(lane) && (next === undefined || lane.running < next.running)) next = lane;
    }
    return next;
  }

  #prepare(lane: Lane<Job>): void {
    lane.prepared = Math.min(inARow, lane.waiting.length);
    for (let index = 0; index < lane.prepared; index += 1) {
      this.#work.prepare(lane.waiting[index]!);
    }
  }
}
