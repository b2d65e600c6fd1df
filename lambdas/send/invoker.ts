import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { SignatureV4 } from '@smithy/signature-v4';
import { deliverResponseSchema, shareSchema } from '../../contract/share.ts';
import type { InvocationOutcome, ShareInvoker } from './run-shares.ts';

/**
 * Invokes the deliver function through Lambda's API. The request is signed by the library that the
 * DynamoDB client signs with: the SDK's own Lambda client would add 88 kB to the bundle, this adds 1.
 * @param functionName name of the deliver function.
 * @param endpoint of Lambda's API. Default: AWS's of the region.
 */
export function shareInvoker(
  { config }: DynamoDBDocumentClient,
  functionName: string,
  endpoint: string | undefined,
): ShareInvoker {
  const { region, credentials, sha256 } = config;
  const signer = new SignatureV4({ service: 'lambda', region, credentials, sha256 });

  return {
    async invoke(share, type, signal) {
      const body = JSON.stringify(shareSchema.parse(share));
      try {
        const response = await post(body, type === 'sync' ? 'RequestResponse' : 'Event', signal);
        if (response.status === 429) return { kind: 'refused' };
        if (!response.ok) return { kind: 'unknown' };
        if (type === 'async') return { kind: 'accepted' };
        if (response.headers.has('x-amz-function-error')) return { kind: 'died' };
        return readResponse(await response.json());
      } catch {
        // No connection, or no response in time.
        return { kind: 'unknown' };
      }
    },
  };

  async function post(body: string, invocationType: string, signal: AbortSignal) {
    const base = endpoint ?? `https://lambda.${await region()}.amazonaws.com`;
    const url = new URL(`/2015-03-31/functions/${functionName}/invocations`, base);
    const { protocol, hostname, pathname: path } = url;
    const { headers } = await signer.sign({
      method: 'POST',
      protocol,
      hostname,
      path,
      headers: { host: url.host, 'x-amz-invocation-type': invocationType },
      body,
    });
    return fetch(url, { method: 'POST', headers, body, signal });
  }
}

function readResponse(payload: unknown): InvocationOutcome {
  const { result } = deliverResponseSchema.parse(payload);
  return result === undefined ? { kind: 'unknown' } : { kind: 'result', result };
}
