import { once } from 'node:events';
import { type Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';

/**
 * Sends a request, whose body was read, on to another server.
 * @throws the connection's error if the server cannot be reached.
 */
export async function forward(
  target: string,
  agent: Agent,
  // The target has another host.
  { method, headers: { host: _, ...headers } }: Pick<IncomingMessage, 'method' | 'headers'>,
  body: Buffer,
): Promise<IncomingMessage> {
  const forwarded = request(target, { method, headers, agent });
  forwarded.end(body);
  const [upstream] = (await once(forwarded, 'response')) as [IncomingMessage];
  return upstream;
}

/** Responds as the other server does. */
export function relay(upstream: IncomingMessage, response: ServerResponse): void {
  response.writeHead(upstream.statusCode!, upstream.headers);
  upstream.pipe(response);
  upstream.once('error', () => response.destroy());
}
