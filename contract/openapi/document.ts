import * as z from 'zod/mini';
import { type Route, routes } from '../routes.ts';
import { notificationIdSchema, projectIdSchema } from '../schemas/fields.ts';
import { type Component, type Described, described } from './described.ts';
import { errorResponses, errorSchemas } from './error-responses.ts';
import { errorsOf } from './errors-of.ts';
import {
  componentsIn,
  type JsonSchema,
  jsonSchemaOf,
  refTo,
  withoutRelativeLinks,
} from './json-schema.ts';
import { descriptionOf, rolesFor } from './members.ts';
import type { Operation, SuccessResponse } from './operation.ts';
import { operations } from './operations.ts';
import { type ResponseHeaders, responseHeaders } from './response-headers.ts';

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
    projectId: { description: 'The project’s public name.' },
    notificationId: { description: 'The `id` in the response of send.' },
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
  const errors = errorResponses(errorsOf(route, operation)).map(({ status, name }) => [
    String(status),
    { $ref: `#/components/responses/${name}` },
  ]);
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
