import { type ErrorCode, errorTable, type Issue } from '../errors.ts';
import { gatewayResponseTable } from '../gateway-responses.ts';
import { type JsonSchema, refTo, withoutRelativeLinks } from './json-schema.ts';
import type { Example, ResponseHeader } from './operation.ts';
import { responseHeaders } from './response-headers.ts';

const gatewaySchema = 'GatewayError';

/** `rate_limited` → `RateLimited`. */
const pascalCase = (code: string) =>
  code.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
const schemaName = (code: ErrorCode) => `${pascalCase(code.replace(/_error$/, ''))}Error`;

/** One schema for each error code, and one for the responses of API Gateway. */
export function errorSchemas(examples: readonly Example[]): Record<string, JsonSchema> {
  const codes = Object.keys(errorTable) as ErrorCode[];
  const schemas = codes.map((code) => [schemaName(code), errorSchema(code, examples)] as const);
  return { ...Object.fromEntries(schemas), Issue: issueSchema, [gatewaySchema]: gatewayError };
}

const issueSchema = object('An invalid field of a request.', {
  path: {
    type: 'string',
    description: 'The field, such as `keys.p256dh`, `userIds[3]` or `recipients[3].values.name`.',
  },
  message: { type: 'string', description: 'What is wrong with it.' },
} satisfies Record<keyof Issue, JsonSchema>);

const gatewayError = object('A response of API Gateway itself.', {
  message: { type: 'string', description: 'The text of API Gateway.' },
});

function errorSchema(code: ErrorCode, examples: readonly Example[]) {
  const properties: Record<string, JsonSchema> = {
    code: { const: code, description: 'Stable.' },
    message: { type: 'string', description: 'For people. It may change.' },
    ...(code === 'invalid_request' && {
      issues: { type: 'array', items: refTo('Issue'), description: 'The invalid fields.' },
    }),
  };
  const bodies = examples
    .map(({ response }) => response)
    .filter(
      (response) =>
        'error' in response && (response.error as Issue & { code: string }).code === code,
    );
  return {
    ...object(errorTable[code].meaning, { error: object('The error.', properties) }),
    ...(bodies.length > 0 && { examples: bodies }),
  };
}

function object(description: string, properties: Record<string, JsonSchema>): JsonSchema {
  return { type: 'object', description, properties, required: Object.keys(properties) };
}

const statuses = [
  ...new Set(
    [...Object.values(errorTable), ...Object.values(gatewayResponseTable)].map(
      ({ status }) => status,
    ),
  ),
].sort((one, other) => one - other);

/** The error responses of a route by status, each with the name under which it is listed. */
export function errorResponses(codes: readonly ErrorCode[]) {
  return statuses.flatMap((status) => {
    const own = codes.filter((code) => errorTable[code].status === status);
    const gateway = Object.values(gatewayResponseTable).find((one) => one.status === status);
    if (own.length === 0 && gateway === undefined) return [];
    const name =
      own.map(pascalCase).join('Or') || pascalCase(gateway!.message.replaceAll(' ', '_'));
    return [{ status, name, response: errorResponse(own, gateway) }];
  });
}

function errorResponse(
  codes: readonly ErrorCode[],
  gateway: { readonly meaning: string } | undefined,
) {
  const meanings = codes.map((code) => `\`${code}\`: ${errorTable[code].meaning}`);
  if (gateway !== undefined) meanings.push(`API Gateway: ${gateway.meaning}`);
  const schemas = codes.map((code) => refTo(schemaName(code)));
  if (gateway !== undefined) schemas.push(refTo(gatewaySchema));
  return {
    description: withoutRelativeLinks(meanings.join('\n\n')),
    ...(codes.length > 0 && { headers: responseHeaders(headersOf(codes), gateway !== undefined) }),
    content: {
      'application/json': { schema: schemas.length > 1 ? { anyOf: schemas } : schemas[0]! },
    },
  };
}

const wait: readonly ErrorCode[] = [
  'request_in_progress',
  'rate_limited',
  'send_cap_reached',
  'unavailable',
];

/** The headers of an error's response, besides those of every response. */
function headersOf(codes: readonly ErrorCode[]): Readonly<Record<string, ResponseHeader>> {
  if (codes.some((code) => errorTable[code].status === 401)) {
    const schema = { type: 'string', const: 'Bearer' };
    return { 'WWW-Authenticate': { description: 'RFC 6750.', schema } };
  }
  if (!codes.some((code) => wait.includes(code))) return {};
  return { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer', minimum: 1 } } };
}
