import type { ServerResponse } from 'node:http';

/** Sends the response to a request. */
export type Respond = (
  status: number,
  headers?: Readonly<Record<string, string | number>>,
  body?: string,
) => void;

/** Counts requests to endpoints and their responses, to compare with a sender's own counts. */
export class PushCounter {
  /** TCP connections to the push service, whatever their requests. */
  connections = 0;
  requests = 0;
  /** Requests that have no response yet. */
  inFlight = 0;
  /** Highest value of `inFlight` so far. */
  peakInFlight = 0;
  /** Messages that a channel has received; their pushes got 201. */
  accepted = 0;
  /** Requests whose connection closed before a response. */
  withoutResponse = 0;
  /** By status. */
  readonly responses: Record<number, number> = {};

  /** Counts a request as in flight until it gets its response, or its connection closes. */
  begin(response: ServerResponse): Respond {
    this.requests++;
    this.inFlight++;
    this.peakInFlight = Math.max(this.peakInFlight, this.inFlight);
    let isOpen = true;
    const end = (status?: number) => {
      if (!isOpen) return;
      isOpen = false;
      this.inFlight--;
      if (status === undefined) this.withoutResponse++;
      else this.responses[status] = (this.responses[status] ?? 0) + 1;
    };
    response.once('close', () => end());
    return (status, headers = {}, body = '') => {
      // Counted first: a sender that has its response must find it in the counts.
      end(status);
      response.writeHead(status, headers).end(body);
    };
  }
}
