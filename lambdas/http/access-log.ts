import type { Logger } from '@aws-lambda-powertools/logger';
import { projectIdSchema } from '../contract/schemas.ts';
import { asServiceError } from './error-reply.ts';
import type { Step } from './reply.ts';

/**
 * Logs one line for each request: outcome and duration, never a header, a body or an address.
 * First in the chain, so that it sees the reply as it goes out.
 */
export function accessLog(logger: Logger, clock: () => Date): Step {
  let begun: Date;
  return {
    before: () => {
      begun = clock();
    },
    after: ({ event, response }) => {
      logger.info('request', { ...facts(event), status: response?.statusCode });
    },
    onError: ({ event, response, error }) => {
      const { code, cause } = asServiceError(error, event.requestContext.requestId);
      const line = { ...facts(event), status: response?.statusCode, code };
      if (cause instanceof Error) logger.error('request', { ...line, error: cause });
      else logger.info('request', line);
    },
  };

  // An environment of Lambda serves one request at a time, so that one variable is enough.
  function facts(event: Parameters<NonNullable<Step['before']>>[0]['event']) {
    return {
      request_id: event.requestContext.requestId,
      // Anything may stand in a path, a secret key by mistake: what can be no id is left out.
      project_id: projectIdSchema.safeParse(event.pathParameters?.projectId).data,
      ms: clock().getTime() - begun.getTime(),
    };
  }
}
