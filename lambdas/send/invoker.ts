import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { json } from 'node:stream/consumers';
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
        const { url, headers } = await sign(body, type === 'sync' ? 'RequestResponse' : 'Event');
        const post = () => postOnce(url, headers, body, signal);
        const response = await post().catch((error) => {
          if (signal.aborted) throw error;
        });
        if (response !== undefined) return await outcomeOf(response, type);
        // The connection broke. The share's claim prevents that both invocations deliver it.
        return outcomeOfRepetition(await outcomeOf(await post(), type));
      } catch {
        // No connection, or no response in time.
        return { kind: 'unknown' };
      }
    },
  };

  async function sign(body: string, invocationType: string) {
    const base = endpoint ?? `https://lambda.${await region()}.amazonaws.com`;
    const url = new URL(`/2015-03-31/functions/${functionName}/invocations`, base);
    const { protocol, hostname, pathname: path } = url;
    const { headers } = await signer.sign({
      method: 'POST',
      protocol,
      hostname,
      path,
      headers: {
        host: url.host,
        'content-type': 'application/octet-stream',
        'x-amz-invocation-type': invocationType,
      },
      body,
    });
    return { url, headers };
  }
}

/**
 * The outcome of an invocation that was repeated because its connection broke. Lambda may have got the
 * first request as well: then that invocation may have the share, unless this one delivered it.
 */
export function outcomeOfRepetition(outcome: InvocationOutcome): InvocationOutcome {
  const isDelivered = outcome.kind === 'result' && outcome.result.isComplete;
  return isDelivered || outcome.kind === 'accepted' ? outcome : { kind: 'unknown' };
}

/**
 * Posts on a new connection: one that is kept from an earlier request may have been forgotten by its
 * peer while the function was frozen.
 * @throws if the connection breaks before the response, or the signal aborts.
 */
function postOnce(
  url: URL,
  headers: OutgoingHttpHeaders,
  body: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    request(url, { method: 'POST', headers, agent: false, signal })
      .on('response', resolve)
      .on('error', reject)
      .end(body);
  });
}

async function outcomeOf(
  response: IncomingMessage,
  type: 'sync' | 'async',
): Promise<InvocationOutcome> {
  const kind = kindOf(response, type);
  if (kind !== 'result') {
    response.destroy();
    return { kind };
  }
  const { result } = deliverResponseSchema.parse(await json(response));
  return result === undefined ? { kind: 'unknown' } : { kind, result };
}

function kindOf(
  { statusCode = 0, headers }: IncomingMessage,
  type: 'sync' | 'async',
): InvocationOutcome['kind'] {
  if (statusCode === 429) return 'throttled';
  if (statusCode < 200 || statusCode > 299) return 'unknown';
  if (type === 'async') return 'accepted';
  return headers['x-amz-function-error'] === undefined ? 'result' : 'died';
}
