import type { Server, Socket } from 'node:net';

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
