import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeServer } from './close-server.ts';
import { connectionForgetter } from './forget-connections.ts';

/** A service of AWS on this machine, for the functions or for clients of the local stack. */
export type AwsService = Awaited<ReturnType<typeof startAwsService>>;

/**
 * Starts it on a free port of the loopback interface.
 * @param handle responds. If it rejects, because the caller has hung up or the local stack itself failed, the
 *   connection closes.
 */
export async function startAwsService(
  handle: (message: IncomingMessage, response: ServerResponse) => Promise<void>,
) {
  const server = createServer((message, response) => {
    handle(message, response).catch(() => response.destroy());
  });
  // No timeout: a call on a connection that closes would fail, at a time that no test decides. For the
  // connections of frozen functions there is `forgetConnections`.
  server.keepAliveTimeout = 0;
  const forgetConnections = connectionForgetter(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Forgets all connections. @returns how many these were. */
    forgetConnections,
    /** Closes every connection. Idempotent. */
    stop: () => closeServer(server),
  };
}
