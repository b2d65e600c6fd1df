/** Jobs that may run at once: over all lanes, and in one of them. */
export interface LaneBounds {
  readonly overall: number;
  readonly perLane: number;
}

interface Lane {
  running: number;
  readonly waiting: (() => Promise<void>)[];
}

/**
 * Runs jobs with bounded concurrency in lanes, one for each push service: the bound of a lane is
 * below that of all, so that one whose jobs take long leaves room for the others'.
 */
export class Lanes {
  readonly #bounds: LaneBounds;
  readonly #lanes = new Map<string, Lane>();
  #running = 0;

  constructor(bounds: LaneBounds) {
    this.#bounds = bounds;
  }

  /** Runs a job once there is room for it. It must not reject. */
  enqueue(name: string, job: () => Promise<void>): void {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = { running: 0, waiting: [] };
      this.#lanes.set(name, lane);
    }
    lane.waiting.push(job);
    this.#fill(lane);
  }

  #fill(lane: Lane): void {
    while (
      lane.waiting.length > 0 &&
      lane.running < this.#bounds.perLane &&
      this.#running < this.#bounds.overall
    ) {
      const job = lane.waiting.shift()!;
      lane.running += 1;
      this.#running += 1;
      void job().then(() => {
        lane.running -= 1;
        this.#running -= 1;
        this.#fill(lane);
        for (const other of this.#lanes.values()) this.#fill(other);
      });
    }
  }
}
