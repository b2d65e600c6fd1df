import { type ErrorBody, errorTable, ServiceError } from '../../contract/errors.ts';
import { type Reply, reply, type Step } from './reply.ts';

/** Answers whatever was thrown. What is not a {@link ServiceError} tells the caller nothing. */
export function errorReply(): Step {
  return {
    onError: (request) => {
      const { requestId } = request.event.requestContext;
      request.response = replyTo(asServiceError(request.error, requestId));
    },
  };
}

export function asServiceError(error: unknown, requestId: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const message = `Something went wrong here, not with your request. It is logged as ${requestId}.`;
  return new ServiceError('internal_error', message, { cause: error });
}

function replyTo({ code, message, issues, retryAfter }: ServiceError): Reply {
  const body: ErrorBody = { error: { code, message, issues } };
  return reply(errorTable[code].status, body, {
    ...(code === 'unauthorized' && { 'WWW-Authenticate': 'Bearer' }),
    ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
  });
}
