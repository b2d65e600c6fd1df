import type { ServerResponse } from 'node:http';

export interface PushCounts {
  /** Connections opened, whatever for. */
  readonly connections: number;
  /** Requests to endpoints. */
  readonly requests: number;
  /** Requests to endpoints that are not answered yet, now and at most so far. */
  readonly inFlight: number;
  readonly peakInFlight: number;
  /** Messages handed to a channel and answered with 201. */
  readonly accepted: number;
  /** Answers given by endpoints, by status. */
  readonly answers: Readonly<Record<number, number>>;
  /** Requests to endpoints whose connection ended without an answer. */
  readonly unanswered: number;
}

/** Counts pushes as they come in and are answered, so that a sender's own counts can be checked. */
export class PushCounter {
  connections = 0;
  #requests = 0;
  #inFlight = 0;
  #peakInFlight = 0;
  #accepted = 0;
  #unanswered = 0;
  readonly #answers: Record<number, number> = {};

  /** Counts a request in; the exchange counts how it ends. */
  begin(response: ServerResponse): Exchange {
    this.#requests++;
    this.#inFlight++;
    this.#peakInFlight = Math.max(this.#peakInFlight, this.#inFlight);
    return new Exchange(response, (status) => {
      this.#inFlight--;
      if (status === undefined) this.#unanswered++;
      else this.#answers[status] = (this.#answers[status] ?? 0) + 1;
    });
  }

  accept(): void {
    this.#accepted++;
  }

  get accepted(): number {
    return this.#accepted;
  }

  counts(): PushCounts {
    return {
      connections: this.connections,
      requests: this.#requests,
      inFlight: this.#inFlight,
      peakInFlight: this.#peakInFlight,
      accepted: this.#accepted,
      answers: { ...this.#answers },
      unanswered: this.#unanswered,
    };
  }
}

/** One request to an endpoint and what it is answered. */
export class Exchange {
  readonly response: ServerResponse;
  readonly #ended: (status: number | undefined) => void;
  #open = true;

  constructor(response: ServerResponse, ended: (status: number | undefined) => void) {
    this.response = response;
    this.#ended = ended;
    response.once('close', () => this.#end(undefined));
  }

  answer(status: number, headers: Readonly<Record<string, string | number>> = {}, body = ''): void {
    // Counted before the sender can know of it: who has an answer finds it in the counts.
    this.#end(status);
    this.response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) this.response.setHeader(name, value);
    this.response.end(body);
  }

  #end(status: number | undefined): void {
    if (!this.#open) return;
    this.#open = false;
    this.#ended(status);
  }
}
