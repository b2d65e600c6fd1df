import * as z from 'zod/mini';
import {
  gatewayResponseTable,
  headersTooLargeMeaning,
  headersTooLargeStatus,
} from '../../infrastructure/gateway-responses.ts';
import { type ErrorCode, errorTable, type Issue } from '../../wire/errors.ts';
import { notificationIdSchema, projectIdSchema } from '../../wire/fields.ts';
import { type Route, routes } from '../../wire/routes.ts';
import {
  descriptionOf,
  type Example,
  errorsOf,
  type Operation,
  type ResponseHeader,
  rolesFor,
  type SuccessResponse,
} from './operation.ts';
import { operations } from './operations.ts';
import {
  type Component,
  componentsIn,
  type Described,
  described,
  type JsonSchema,
  jsonSchemaOf,
  refTo,
  withoutRelativeLinks,
} from './schema.ts';

const tags = [
  {
    name: 'Browsers',
    description: 'Called by pages and service workers on any origin, without credentials.',
  },
  {
    name: 'Servers',
    description:
      'Called by your server with the secret key of the project, or by a member with a member key.',
  },
];

const pathParameters = described(
  z.object({ projectId: projectIdSchema, notificationId: notificationIdSchema }),
  {
    projectId: 'The project’s public name.',
    notificationId: 'The `id` in the response of send.',
  },
);

/**
 * The OpenAPI description (3.1) of the HTTP interface.
 * @param version of the service.
 */
export function openApiDocument(version: string) {
  const entries = Object.values(routes).map((route: Route) => ({
    route,
    operation: operations[route.name] as Operation,
  }));
  const errors = entries.flatMap(({ route, operation }) =>
    errorResponses(errorsOf(route, operation)),
  );
  errors.push(headersTooLarge);
  const examples = entries.flatMap(({ operation }) => Object.values(operation.examples));
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { route, operation } of entries) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operationObject(route, operation),
    };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Carillon',
      version,
      summary: 'Web push from your own AWS account.',
      description:
        'JSON over HTTPS. Lengths count Unicode code points. Later versions may add fields to responses ' +
        'and error codes: ignore those that you do not know. After a 500 or 503 of API Gateway, a send may ' +
        'have been delivered: only an `Idempotency-Key` makes it safe to repeat.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      {
        url: '{apiUrl}',
        description: 'Your deployment',
        variables: {
          apiUrl: {
            default: 'http://localhost:4000',
            description: 'The output `ApiUrl` of the stack. Default: the address of `npm start`.',
          },
        },
      },
    ],
    tags,
    paths,
    components: {
      securitySchemes: {
        secretKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The secret key of the project: `carillon_sk_` and 43 characters. For servers only.',
        },
        memberKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The member key of a person who works with the project: `carillon_mk_` and 43 characters. Its role is `viewer` or `sender`; the description of each operation says which may call it.',
        },
      },
      schemas: {
        ...componentSchemas(entries.map(({ operation }) => operation)),
        ...errorSchemas(examples),
      },
      responses: Object.fromEntries(errors.map(({ name, response }) => [name, response])),
    },
  };
}

export type OpenApiDocument = ReturnType<typeof openApiDocument>;

function operationObject(route: Route, operation: Operation) {
  const { summary, headers, query, body } = operation;
  const successes = Object.entries(operation.responses).map(([status, response]) => [
    status,
    successResponse(operation, Number(status), response),
  ]);
  const errors = [...errorResponses(errorsOf(route, operation)), headersTooLarge].map(
    ({ status, name }) => [String(status), { $ref: `#/components/responses/${name}` }],
  );
  return {
    operationId: route.name,
    tags: [route.caller === 'owner' ? 'Servers' : 'Browsers'],
    summary,
    description: withoutRelativeLinks(descriptionOf(route, operation)),
    security: securityOf(route),
    parameters: [
      ...parameters('path', pathParameters).filter(({ name }) => route.path.includes(`{${name}}`)),
      ...(query === undefined ? [] : parameters('query', query)),
      ...(headers === undefined ? [] : parameters('header', headers)),
    ],
    ...(body !== undefined && { requestBody: requestBody(operation, body) }),
    responses: Object.fromEntries([...successes, ...errors]) as Record<string, SuccessObject>,
  };
}

function securityOf(route: Route) {
  if (route.caller === 'browser') return [];
  return rolesFor(route).length > 0 ? [{ secretKey: [] }, { memberKey: [] }] : [{ secretKey: [] }];
}

interface SuccessObject {
  readonly description: string;
  readonly headers: ResponseHeaders;
  readonly content: object;
}

function parameters(location: 'path' | 'query' | 'header', fields: Described) {
  const { properties = {}, required = [] } = jsonSchemaOf(fields);
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: location,
    required: required.includes(name),
    description,
    schema,
  }));
}

function requestBody(
  { examples }: Operation,
  { content, mediaTypes }: NonNullable<Operation['body']>,
) {
  const named = Object.entries(examples).flatMap(([name, { summary, request, status }]) =>
    request.body === undefined || status >= 400 ? [] : [[name, { summary, value: request.body }]],
  );
  const media = { schema: refTo(content.name), examples: Object.fromEntries(named) };
  return {
    required: true,
    content: Object.fromEntries((mediaTypes ?? ['application/json']).map((type) => [type, media])),
  };
}

function successResponse(
  { examples }: Operation,
  status: number,
  { description, content, headers }: SuccessResponse,
): SuccessObject {
  const named = Object.entries(examples)
    .filter(([, example]) => example.status === status)
    .map(([name, { summary, response }]) => [name, { summary, value: response }]);
  return {
    description,
    headers: responseHeaders(headers),
    content: {
      'application/json': { schema: refTo(content.name), examples: Object.fromEntries(named) },
    },
  };
}

function componentSchemas(all: readonly Operation[]): Record<string, JsonSchema> {
  const roots = all.flatMap(({ body, responses }): Component[] => [
    ...(body === undefined ? [] : [body.content]),
    ...Object.values(responses).map(({ content }) => content),
  ]);
  const components = roots.flatMap((root) => [root, ...componentsIn(root)]);
  return Object.fromEntries(components.map((one) => [one.name, jsonSchemaOf(one)]));
}

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

const gatewaySchema = 'GatewayError';

/** `rate_limited` → `RateLimited`. */
const pascalCase = (code: string) =>
  code.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
const schemaName = (code: ErrorCode) => `${pascalCase(code.replace(/_error$/, ''))}Error`;

/** One schema for each error code, and one for the responses of API Gateway. */
function errorSchemas(examples: readonly Example[]): Record<string, JsonSchema> {
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

interface ErrorResponse {
  readonly status: number;
  /** Under which it is listed. It differs from the names of schemas: generators make a type of each. */
  readonly name: string;
  readonly response: object;
}

/** Of API Gateway, before it looks for a route. Without a schema, generated clients would lose the types of all errors. */
const headersTooLarge: ErrorResponse = {
  status: headersTooLargeStatus,
  name: 'HeadersTooLargeResponse',
  response: {
    description: `API Gateway: ${headersTooLargeMeaning} The body may be empty.`,
    content: { 'application/json': { schema: refTo(gatewaySchema) } },
  },
};

/** The error responses of a route by status. */
export function errorResponses(codes: readonly ErrorCode[]): ErrorResponse[] {
  return statuses.flatMap((status) => {
    const own = codes.filter((code) => errorTable[code].status === status);
    const gateway = Object.values(gatewayResponseTable).find((one) => one.status === status);
    if (own.length === 0 && gateway === undefined) return [];
    const name =
      own.map(pascalCase).join('Or') || pascalCase(gateway!.message.replaceAll(' ', '_'));
    return [{ status, name: `${name}Response`, response: errorResponse(own, gateway) }];
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
  if (codes.includes('outcome_unknown')) {
    const schema = { type: 'string', format: 'uri' };
    const description = 'With `outcome_unknown`: address of the notification.';
    return { Location: { description, schema } };
  }
  if (!codes.some((code) => wait.includes(code))) return {};
  return { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer', minimum: 1 } } };
}
