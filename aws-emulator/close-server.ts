import { once } from 'node:events';
import type { Server } from 'node:net';

/** Ends a server and its connections. Does nothing if it does not listen any more. */
export async function closeServer(server: Server & { closeAllConnections(): void }): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
