import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isAllowedRequest } from './allowed-request.ts';
import {
  type ConsolePages,
  type ConsoleResponse,
  consolePages,
  forbidden,
  jsonResponse,
} from './console-pages.ts';
import { forward, isForwarded } from './forward.ts';

export interface ConsoleServer {
  /** `http://localhost:<port>`. */
  readonly origin: string;
  stop(): Promise<void>;
}

interface ConsoleServerOptions {
  /** Root directory of the repository. */
  readonly root: string;
  /** Origin of the deployed service. */
  readonly baseUrl: string;
  /** 0: any free port. */
  readonly port: number;
}

/**
 * Serves the console of a deployed service on this machine, and forwards the calls of its page: the
 * service needs no opening for other origins (CORS).
 * @throws the error of `listen`, such as `EADDRINUSE`.
 */
export async function startConsoleServer({
  root,
  baseUrl,
  port,
}: ConsoleServerOptions): Promise<ConsoleServer> {
  let pages: ConsolePages;
  const server = createServer(async (request, response) => {
    if (!isAllowedRequest(request)) return write(response, forbidden);
    if (isForwarded(request)) return forward(baseUrl, request, response);
    return write(response, (await pages(request)) ?? jsonResponse(404, { message: 'Not Found' }));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: listening } = server.address() as AddressInfo;
  pages = await consolePages({
    root,
    settings: async () => ({ baseUrl, local: false, projects: [] }),
  });
  return {
    origin: `http://localhost:${listening}`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function write(response: ServerResponse, { status, headers, body }: ConsoleResponse): void {
  response.writeHead(status, headers);
  response.end(body);
}
