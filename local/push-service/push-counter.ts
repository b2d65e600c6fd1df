import type { ServerResponse } from 'node:http';

export interface PushCounts {
  /** TCP connections to the push service, whatever their requests. */
  readonly connections: number;
  /** Requests to endpoints. */
  readonly requests: number;
  /** Requests to endpoints that have no response yet. */
  readonly inFlight: number;
  /** Highest value of `inFlight` so far. */
  readonly peakInFlight: number;
  /** Messages that a channel has received; their pushes got 201. */
  readonly accepted: number;
  /** Responses of endpoints, by status. */
  readonly responses: Readonly<Record<number, number>>;
  /** Requests to endpoints whose connection closed before a response. */
  readonly withoutResponse: number;
}

/** Counts requests to endpoints and their responses, to compare with a sender's own counts. */
export class PushCounter {
  connections = 0;
  #requests = 0;
  #inFlight = 0;
  #peakInFlight = 0;
  #accepted = 0;
  #withoutResponse = 0;
  readonly #responses: Record<number, number> = {};

  /** Counts a request as in flight until its exchange ends. */
  begin(response: ServerResponse): Exchange {
    this.#requests++;
    this.#inFlight++;
    this.#peakInFlight = Math.max(this.#peakInFlight, this.#inFlight);
    return new Exchange(response, (status) => {
      this.#inFlight--;
      if (status === undefined) this.#withoutResponse++;
      else this.#responses[status] = (this.#responses[status] ?? 0) + 1;
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
      responses: { ...this.#responses },
      withoutResponse: this.#withoutResponse,
    };
  }
}

/** One request to an endpoint and its response. */
export class Exchange {
  readonly response: ServerResponse;
  readonly #onEnd: (status: number | undefined) => void;
  #open = true;

  /** @param onEnd is called once, with the response's status; undefined if there was no response. */
  constructor(response: ServerResponse, onEnd: (status: number | undefined) => void) {
    this.response = response;
    this.#onEnd = onEnd;
    response.once('close', () => this.#end(undefined));
  }

  respond(
    status: number,
    headers: Readonly<Record<string, string | number>> = {},
    body = '',
  ): void {
    // Counted first: a sender that has its response must find it in the counts.
    this.#end(status);
    this.response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) this.response.setHeader(name, value);
    this.response.end(body);
  }

  #end(status: number | undefined): void {
    if (!this.#open) return;
    this.#open = false;
    this.#onEnd(status);
  }
}
