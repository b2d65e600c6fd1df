import type { ResponseHeader } from './operation.ts';

export type ResponseHeaders = Readonly<
  Record<string, ResponseHeader & { readonly required?: true }>
>;

const ofEveryResponse: Readonly<Record<string, ResponseHeader>> = {
  'Cache-Control': {
    description: 'No cache may store the response.',
    schema: { type: 'string', const: 'no-store' },
  },
};

/**
 * The headers of a response of the service.
 * @param own headers of this response.
 * @param isShared whether API Gateway itself may respond with the same status.
 */
export function responseHeaders(
  own: Readonly<Record<string, ResponseHeader>> = {},
  isShared = false,
): ResponseHeaders {
  const entries = Object.entries({ ...own, ...ofEveryResponse });
  return Object.fromEntries(
    entries.map(([name, { description, schema }]) => [
      name,
      isShared
        ? {
            description: `${description} Responses of API Gateway itself do not have it.`,
            schema,
          }
        : { required: true as const, description, schema },
    ]),
  );
}
