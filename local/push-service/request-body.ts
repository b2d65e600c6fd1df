import type { IncomingMessage } from 'node:http';
import { pushRefusal } from './refusal.ts';

/**
 * Reads a request's body whole.
 * @param limit the most bytes it may have. What exceeds it is read and thrown away, so that the
 *   connection serves the next request.
 * @throws {Refusal} 413 for a longer body.
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else reject(pushRefusal('tooLarge', `The body is larger than ${limit} bytes.`));
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}
