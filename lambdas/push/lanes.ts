/** Jobs that may run at once: over all lanes, and in one of them. */
export interface LaneBounds {
  readonly overall: number;
  readonly perLane: number;
}

export interface LaneWork<Job> {
  /** Does what of a job needs no waiting, shortly before it runs. */
  readonly prepare: (job: Job) => void;
  /** Must not reject. */
  readonly run: (job: Job) => Promise<void>;
}

interface Lane<Job> {
  running: number;
  readonly waiting: Job[];
  /** How many of those waiting, from the first on, are prepared. */
  prepared: number;
}

/**
 * Jobs prepared in a row. Encryption after encryption finds its tables in the processor's cache,
 * which each system call of a push between them would empty: a tenth of a push's CPU time.
 */
const inARow = 32;

/**
 * Runs jobs with bounded concurrency in lanes, one for each push service: the bound of a lane is
 * below that of all, so that one whose jobs take long leaves room for the others'.
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
      lane = { running: 0, waiting: [], prepared: 0 };
      this.#lanes.set(name, lane);
    }
    lane.waiting.push(job);
    this.#fill(lane);
  }

  #fill(lane: Lane<Job>): void {
    while (
      lane.waiting.length > 0 &&
      lane.running < this.#bounds.perLane &&
      this.#running < this.#bounds.overall
    ) {
      if (lane.prepared === 0) this.#prepare(lane);
      const job = lane.waiting.shift()!;
      lane.prepared -= 1;
      lane.running += 1;
      this.#running += 1;
      void this.#work.run(job).then(() => {
        lane.running -= 1;
        this.#running -= 1;
        this.#fill(lane);
        if (this.#lanes.size === 1) return;
        for (const other of this.#lanes.values()) this.#fill(other);
      });
    }
  }

  #prepare(lane: Lane<Job>): void {
    lane.prepared = Math.min(inARow, lane.waiting.length);
    for (let index = 0; index < lane.prepared; index += 1) {
      this.#work.prepare(lane.waiting[index]!);
    }
  }
}
