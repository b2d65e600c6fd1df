import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type ConsolePagesOptions,
  type ConsoleResponse,
  consolePages,
  forbidden,
  jsonResponse,
} from './console-pages.ts';
import { forward, isForwarded } from './forward.ts';
import { isAllowedRequest } from './host-and-origin.ts';

export interface ConsoleServer {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  stop(): Promise<void>;
}

interface ConsoleServerOptions extends Pick<ConsolePagesOptions, 'root' | 'watch'> {
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
  watch,
}: ConsoleServerOptions): Promise<ConsoleServer> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  // Requests that arrive before the page is ready wait for it.
  const pages = consolePages({
    root,
    watch,
    settings: async () => ({ baseUrl, local: false, projects: [] }),
  });
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    if (!isAllowedRequest(request)) return write(response, forbidden);
    if (isForwarded(request)) return forward(baseUrl, request, response);
    const page = await (await pages)(request);
    return write(response, page ?? jsonResponse(404, { message: 'Not Found' }));
  };
  server.on('request', (request, response) => {
    respond(request, response).catch((error: Error) => {
      if (response.headersSent) response.destroy();
      else write(response, jsonResponse(500, { message: error.message }));
    });
  });
  const stop = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  try {
    await pages;
  } catch (error) {
    await stop();
    throw error;
  }
  const { address, port: listening } = server.address() as AddressInfo;
  // Not `localhost`: another process may listen on ::1, and would get the key that a person types.
  return { origin: `http://${address}:${listening}`, stop };
}

function write(response: ServerResponse, { status, headers, body }: ConsoleResponse): void {
  response.writeHead(status, headers);
  response.end(body);
}
