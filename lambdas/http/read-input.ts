import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import * as z from 'zod/mini';
import { type Issue, ServiceError } from '../contract/errors.ts';
import { idempotencyKeySchema } from '../contract/schemas.ts';
import type { Step } from './reply.ts';

/** Reads and checks the JSON body; the rest of the chain finds it as `input`. */
export function jsonBody<Schema extends z.ZodMiniType>(
  schema: Schema,
): Step<{ input: z.infer<Schema> }> {
  return {
    before: ({ event }) => {
      event.input = check(schema, parseJson(event));
    },
  };
}

/** Checks the query parameters; the rest of the chain finds them as `input`. */
export function query<Schema extends z.ZodMiniType>(
  schema: Schema,
): Step<{ input: z.infer<Schema> }> {
  return {
    before: ({ event }) => {
      event.input = check(schema, event.queryStringParameters ?? {});
    },
  };
}

/** Checks the header `Idempotency-Key`, which may be left out. */
export function idempotencyKey(): Step<{ idempotencyKey?: string }> {
  return {
    before: ({ event }) => {
      const headers = z.object({ 'Idempotency-Key': idempotencyKeySchema });
      const given = { 'Idempotency-Key': event.headers['idempotency-key'] };
      event.idempotencyKey = check(headers, given)['Idempotency-Key'];
    },
  };
}

function parseJson({ headers, body, isBase64Encoded }: APIGatewayProxyEventV2): unknown {
  const [mediaType = ''] = headers['content-type']?.split(';') ?? [];
  if (mediaType.trim().toLowerCase() !== 'application/json') {
    throw new ServiceError(
      'unsupported_media_type',
      'Send the body as JSON, with the header "Content-Type: application/json".',
    );
  }
  try {
    const text = isBase64Encoded ? utf8.decode(Buffer.from(body ?? '', 'base64')) : (body ?? '');
    return JSON.parse(text);
  } catch {
    throw new ServiceError('invalid_json', 'The body is not JSON; check quotes and commas.');
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function check<Schema extends z.ZodMiniType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues: Issue[] = parsed.error.issues.map(({ path, message }) => ({
    path: path.join('.'),
    message,
  }));
  const [first, ...others] = issues;
  const named = first?.path ? `"${first.path}" ${first.message}` : `The body ${first?.message}`;
  const more = others.length > 0 ? ` There is more; see "issues".` : '';
  throw new ServiceError('invalid_request', `${named}.${more}`, { issues });
}
