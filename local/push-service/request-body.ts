import type { IncomingMessage } from 'node:http';
import { pushRefusal } from './refusal.ts';

/**
 * Reads the whole body of a request. Bytes beyond the limit are read and discarded, so that the
 * connection can serve the next request.
 * @throws {Refusal} 413 if the body is longer than the limit.
 */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    request.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes <= limitBytes) chunks.push(chunk);
      else reject(pushRefusal('tooLarge', `The body is larger than ${limitBytes} bytes.`));
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}
