import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';

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

/** Tells a person why the request was refused. */
export const refusalText =
  'Only this machine may call this address, as localhost or 127.0.0.1, and no page of another origin.';

/**
 * Whether a request to a server on this machine comes from its own page, a tool or the address bar, and
 * not from another page: any page in a browser here can send requests to 127.0.0.1. The host is checked
 * because another site's name may resolve to this machine (DNS rebinding). Pages cannot set these
 * headers; tools send neither `Origin` nor `Sec-Fetch-Site`.
 */
export function isAllowedRequest({
  headers: { host = '', origin, 'sec-fetch-site': site },
  socket: { localPort },
}: Pick<IncomingMessage, 'headers'> & {
  readonly socket: Pick<Socket, 'localPort'>;
}): boolean {
  return (
    (host === `localhost:${localPort}` || host === `127.0.0.1:${localPort}`) &&
    // `ws:` is the origin of Firefox itself when it connects to its push service; no page has it.
    (origin === undefined || origin === `http://${host}` || origin === `ws://${host}/`) &&
    (site === undefined || site === 'same-origin' || site === 'none')
  );
}

/**
 * Reads the whole body, also one that is longer than the limit, so that the connection can serve the next request.
 * @returns undefined if it is longer.
 */
export async function readBody(
  message: IncomingMessage,
  limitBytes: number,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let lengthBytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    lengthBytes += chunk.length;
    if (lengthBytes > limitBytes) chunks.length = 0;
    else chunks.push(chunk);
  }
  return lengthBytes > limitBytes ? undefined : Buffer.concat(chunks);
}

/** What arrives on a forgotten connection gets a reset, or no answer at all. */
export type AfterForgetting = 'reset' | 'silence';

/**
 * Lets a server without TLS forget its connections, as a peer or a device on the way does with idle
 * ones. Their clients do not notice: the server sends nothing before a client sends something.
 * @returns a function that forgets all connections that are open, and returns how many these were.
 */
export function connectionForgetter(server: Server): (then: AfterForgetting) => number {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return (then) => {
    const forgotten = open.size;
    for (const socket of open) {
      // An idle connection that times out would be closed, which its client could notice.
      socket.setTimeout(0);
      // The HTTP server no longer reads the connection.
      socket.removeAllListeners('data');
      socket.on('data', () => {
        if (then === 'reset') socket.resetAndDestroy();
      });
    }
    open.clear();
    return forgotten;
  };
}

/** Ends a server and its connections. Does nothing if it no longer listens. */
export async function closeServer(server: Server & { closeAllConnections(): void }): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
