/** The responses that API Gateway itself sends when no function does: their texts and meanings. */
export const gatewayResponseTable = {
  badRequest: {
    status: 400,
    message: 'Bad Request',
    meaning: 'The path cannot be decoded.',
  },
  notFound: {
    status: 404,
    message: 'Not Found',
    meaning: 'Method and path match no route. Is there a slash at the end of the base URL?',
  },
  tooLarge: {
    status: 413,
    message: 'Request Entity Too Large',
    meaning: 'The body is over 10 MB, or the function’s input (the request as JSON) is over 6 MB.',
  },
  throttled: {
    status: 429,
    message: 'Too Many Requests',
    meaning: 'All callers together exceed the [throttle](operating.md#throttles) of the route.',
  },
  failed: {
    status: 500,
    message: 'Internal Server Error',
    meaning: 'The function crashed, or ran out of time or memory.',
  },
  unavailable: {
    status: 503,
    message: 'Service Unavailable',
    meaning: 'The function did not respond within 30 s, or Lambda could not run it.',
  },
} as const satisfies Record<
  string,
  { readonly status: number; readonly message: string; readonly meaning: string }
>;

/** Apart from the others, because AWS documents only the limit: nobody knows the body. */
export const headersTooLargeStatus = 431;
export const headersTooLargeMeaning =
  'The request line with the headers is over 10,240 bytes. AWS documents the limit, not the response.';
