import { isIPv4, isIPv6 } from 'node:net';
import type { Logger } from '@aws-lambda-powertools/logger';
import type middy from '@middy/core';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { projectIdSchema } from '../../contract/schemas.ts';
import { asServiceError } from './error-reply.ts';
import { countedAddress } from './rate-limit.ts';
import type { Reply } from './reply.ts';

/**
 * Logs one line for each request: outcome and duration, never a header, a body or an address. It is
 * a plugin and not a middleware, because a preflight is answered early, which skips every `after`.
 */
export function accessLog(logger: Logger, clock: () => Date): middy.PluginObject {
  // An environment of Lambda serves one request at a time, so that one variable is enough.
  let begun: Date;
  return {
    requestStart: () => {
      begun = clock();
    },
    requestEnd: ({ event, response, error }: middy.Request<APIGatewayProxyEventV2, Reply>) => {
      const { requestId, http } = event.requestContext;
      const line = {
        request_id: requestId,
        method: http.method,
        // Anything may stand in a path, a secret key by mistake: what can be no id is left out.
        project_id: projectIdSchema.safeParse(event.pathParameters?.projectId).data,
        network: networkOf(http.sourceIp),
        status: response?.statusCode,
        ms: clock().getTime() - begun.getTime(),
      };
      if (!error) return logger.info('request', line);
      const { code, cause } = asServiceError(error, requestId);
      if (cause instanceof Error) logger.error('request', { ...line, code, error: cause });
      else logger.info('request', { ...line, code });
    },
  };
}

/** The network that an address is in, too large to tell a person: its /24, or /48 of IPv6. */
export function networkOf(address: string): string | undefined {
  const counted = countedAddress(address);
  if (isIPv4(counted)) return `${counted.split('.').slice(0, 3).join('.')}.0/24`;
  if (isIPv6(address)) return `${counted.split(':').slice(0, 3).join(':')}::/48`;
  return undefined;
}
