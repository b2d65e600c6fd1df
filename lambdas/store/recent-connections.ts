import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';

/**
 * Milliseconds for which an idle connection is used again. DynamoDB forgets it after about a minute
 * (https://github.com/aws/aws-sdk-java/issues/1365); a function that was frozen meanwhile does not
 * notice, and its timers have not advanced.
 */
const idleTimeoutMs = 30_000;

/** As the SDK's own agents. */
const settings = { keepAlive: true, maxSockets: 50 };

/** Keeps connections open for later requests, and knows by the wall clock since when they are idle. */
export class RecentConnections {
  readonly httpAgent = new HttpAgent(settings);
  readonly httpsAgent = new HttpsAgent(settings);
  readonly #now: () => number;
  readonly #idleSince = new WeakMap<Duplex, number>();

  /** @param now milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
    for (const agent of [this.httpAgent, this.httpsAgent]) {
      const keep = agent.keepSocketAlive.bind(agent);
      agent.keepSocketAlive = (socket) => {
        this.#idleSince.set(socket, now());
        return keep(socket);
      };
    }
  }

  /** Closes the connections that are idle for so long, so that the next request uses another one. */
  closeIdle(forMs = idleTimeoutMs): void {
    for (const { freeSockets } of [this.httpAgent, this.httpsAgent]) {
      for (const socket of Object.values(freeSockets).flatMap((sockets) => sockets ?? [])) {
        if (this.#now() - this.#idleSince.get(socket)! >= forMs) socket.destroy();
      }
    }
  }
}
