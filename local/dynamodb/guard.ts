import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { isAllowedRequest } from '../../console/host-and-origin.ts';
import { closeServer } from '../close-server.ts';
import { forward, relay } from './forward.ts';
import { refusal, writeResponse } from './response.ts';

export interface Guard {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/**
 * Starts a server in front of DynamoDB Local, which listens on every address of the machine, takes any
 * `Host`, and checks no signature. It has a database for each access key id and region: this server
 * replaces both by an id that nobody else knows.
 * @param target URL of DynamoDB Local.
 */
export async function startGuard(target: string, accessKeyId: string): Promise<Guard> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((message, response) => {
    handle(message, response).catch(() => response.destroy());
  });

  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isAllowedRequest(message)) return writeResponse(response, refusal);
    const { method, headers } = message;
    const authorization = headers.authorization?.replace(
      /Credential=[^/]*\/([^/]*)\/[^/]*\//,
      `Credential=${accessKeyId}/$1/local/`,
    );
    const forwarded = { method, headers: { ...headers, ...(authorization && { authorization }) } };
    relay(await forward(target, agent, forwarded, await buffer(message)), response);
  }

  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      agent.destroy();
      await closeServer(server);
    },
  };
}

/** The access key id of the data in a directory. Only its owner can read it. */
export function accessKeyIdOf(dataDir: string | undefined): string {
  // DynamoDB Local takes letters and digits only.
  const created = randomBytes(16).toString('hex');
  if (dataDir === undefined) return created;
  const file = join(dataDir, 'dynamodb-local-key');
  try {
    writeFileSync(file, created, { mode: 0o600, flag: 'wx' });
    return created;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readFileSync(file, 'utf8');
  }
}
