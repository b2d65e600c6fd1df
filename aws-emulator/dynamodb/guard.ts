import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type AwsService, startAwsService } from '../aws-service.ts';
import { isAllowedRequest } from '../host-and-origin.ts';
import { forward, relay } from './forward.ts';
import { refusal, writeResponse } from './response.ts';

/**
 * Starts a server in front of DynamoDB Local, which listens on every address of the machine, takes any
 * `Host`, and checks no signature. It has a database for each access key id and region: this server
 * replaces both by an id that nobody else knows.
 * @param target URL of DynamoDB Local.
 */
export async function startGuard(target: string, accessKeyId: string): Promise<AwsService> {
  const agent = new Agent({ keepAlive: true });
  const service = await startAwsService(async (message, response) => {
    if (!isAllowedRequest(message)) return writeResponse(response, refusal);
    const { method, headers } = message;
    const authorization = headers.authorization?.replace(
      /Credential=[^/]*\/([^/]*)\/[^/]*\//,
      `Credential=${accessKeyId}/$1/local/`,
    );
    const forwarded = { method, headers: { ...headers, ...(authorization && { authorization }) } };
    relay(await forward(target, agent, forwarded, await buffer(message)), response);
  });
  return {
    ...service,
    async stop() {
      agent.destroy();
      await service.stop();
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
