import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { partition } from '@aws-sdk/core/client';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { SignatureV4 } from '@smithy/signature-v4';
import { type Slice, sliceSchema } from '../../contract/infrastructure/slice.ts';
import type { Host } from '../host.ts';

/** Starts the delivery of a slice in another function. */
export type SliceStarter = ReturnType<typeof sliceStarter>;

/**
 * Invokes the deliver function asynchronously, through Lambda's API. The request is signed by the library that the
 * DynamoDB client signs with: the SDK's own Lambda client would add 88 kB to the bundle, this adds 1.
 * @param functionName name of the deliver function.
 * @param endpoint of Lambda's API. Undefined: that of the client's region, in its partition.
 */
export function sliceStarter(
  { config }: DynamoDBDocumentClient,
  functionName: string,
  endpoint: string | undefined,
  post: NonNullable<Host['post']> = postOnce,
) {
  const { region, credentials, sha256 } = config;
  const signer = new SignatureV4({ service: 'lambda', region, credentials, sha256 });

  return {
    /** @returns whether Lambda has accepted it. It may run even if this is false. */
    async start(slice: Slice, signal: AbortSignal): Promise<boolean> {
      const body = JSON.stringify(sliceSchema.parse(slice));
      try {
        const { url, headers } = await sign(body);
        const call = () => post(url, headers, body, signal);
        // One more try if the connection breaks. The lease prevents that two invocations deliver the slice.
        const response = await call().catch((error) => {
          if (signal.aborted) throw error;
          return call();
        });
        response.destroy();
        return response.statusCode === 202;
      } catch {
        return false;
      }
    },
  };

  async function sign(body: string) {
    const own = await region();
    const base = endpoint ?? `https://lambda.${own}.${partition(own).dnsSuffix}`;
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
        'x-amz-invocation-type': 'Event',
      },
      body,
    });
    return { url, headers };
  }
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
