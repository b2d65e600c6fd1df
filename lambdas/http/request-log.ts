import type { Logger } from '@aws-lambda-powertools/logger';
import type middy from '@middy/core';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { networkOf } from './client-address.ts';
import { asServiceError } from './error-responses.ts';
import { readPathIds } from './path-ids.ts';
import type { HttpResponse, Logged } from './response.ts';
import { logInvocation } from './service-logger.ts';

/**
 * Logs one line per request, unless a successful one needs none: outcome and duration, never a header, a
 * body or an address. It is a plugin and not a middleware: a preflight is answered early, which skips
 * every `after`.
 */
export function requestLog(logger: Logger, clock: () => Date): middy.PluginObject {
  // An environment of Lambda serves one request at a time, so one variable is enough.
  let startedAt: Date;
  return {
    // Optional only for middy's types: it passes the request.
    requestStart: (request?: middy.Request<APIGatewayProxyEventV2>) => {
      const { event, context } = request!;
      startedAt = clock();
      logInvocation(logger, context, event.requestContext.requestId);
    },
    requestEnd: ({
      event,
      response,
      error,
    }: middy.Request<APIGatewayProxyEventV2 & Logged, HttpResponse>) => {
      const { requestId, http } = event.requestContext;
      const line = {
        method: http.method,
        // Only a valid id: a caller may have put a secret key into the path by mistake.
        project_id: readPathIds(event).projectId,
        network: networkOf(http.sourceIp),
        status: response?.statusCode,
        ms: clock().getTime() - startedAt.getTime(),
        ...event.logged,
      };
      if (!error) return event.logged === null ? undefined : logger.info('request', line);
      const { code, cause } = asServiceError(error, requestId);
      if (cause instanceof Error) logger.error('request', { ...line, code, error: cause });
      else logger.info('request', { ...line, code });
    },
  };
}
