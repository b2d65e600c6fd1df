import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One call of a function to DynamoDB. */
export interface DynamoDbCall {
  /** The function's logical id, which stands in its credentials. */
  readonly caller: string;
  /** Such as `UpdateItem`. */
  readonly operation: string;
}

export interface DynamoDbGate {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Stands between the functions and the local DynamoDB, and sees every call. */
export async function startDynamoDbGate(
  target: string,
  onCall: (call: DynamoDbCall) => void = () => {},
): Promise<DynamoDbGate> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((message, response) => {
    onCall(callOf(message));
    forward(target, agent, message, response);
  });
  // The functions' clients keep connections open; closing one first would fail their next call.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      agent.destroy();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function callOf({ headers }: IncomingMessage): DynamoDbCall {
  const [, caller = ''] = /Credential=([^/]+)\//.exec(headers.authorization ?? '') ?? [];
  const [, operation = ''] = String(headers['x-amz-target']).split('.');
  return { caller, operation };
}

function forward(
  target: string,
  agent: Agent,
  message: IncomingMessage,
  response: ServerResponse,
): void {
  const onward = request(target, { method: message.method, headers: message.headers, agent });
  onward.once('response', (answer) => {
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  });
  // As the database itself would, were it to go away.
  onward.once('error', () => response.destroy());
  message.pipe(onward);
}
