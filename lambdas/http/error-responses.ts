import { type ErrorBody, errorTable, ServiceError } from '../../contract/errors.ts';
import { type HttpResponse, type Middleware, respond } from './response.ts';

/** Turns errors into responses. Only a {@link ServiceError} tells the caller what happened. */
export function errorResponses(): Middleware {
  return {
    onError: (request) => {
      const { requestId } = request.event.requestContext;
      request.response = responseOf(asServiceError(request.error, requestId));
    },
  };
}

export function asServiceError(error: unknown, requestId: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const message = `Something went wrong here, not with your request. It is logged as ${requestId}.`;
  return new ServiceError('internal_error', message, { cause: error });
}

function responseOf({ code, message, issues, retryAfterSeconds }: ServiceError): HttpResponse {
  const body: ErrorBody = { error: { code, message, issues } };
  const { status } = errorTable[code];
  return respond(status, body, {
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
  });
}
