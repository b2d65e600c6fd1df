import { isUtf8 } from 'node:buffer';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import * as z from 'zod/mini';
import { type Issue, ServiceError } from '../../contract/wire/errors.ts';
import { idempotencyKeySchema, issuesOf } from '../../contract/wire/fields.ts';

/**
 * Parses and validates the JSON body.
 * @param limitBytes a longer body is refused without being parsed.
 * @param mediaTypes accepted as `Content-Type`.
 */
export function jsonBody<Schema extends z.ZodMiniType>(
  event: APIGatewayProxyEventV2,
  schema: Schema,
  limitBytes: number,
  mediaTypes: readonly string[] = ['application/json'],
): z.infer<Schema> {
  return validate(schema, parseJson(event, limitBytes, mediaTypes));
}

/** Validates the query parameters. */
export function query<Schema extends z.ZodMiniObject>(
  event: APIGatewayProxyEventV2,
  schema: Schema,
): z.infer<Schema> {
  return validate(schema, queryParameters(event, Object.keys(schema.shape)));
}

/**
 * The query parameters, of which these are given once at most: API Gateway joins the values of a repeated one with
 * commas, which may make a valid value that nobody sent.
 * @throws {ServiceError} `invalid_request`.
 */
export function queryParameters(
  { rawQueryString, queryStringParameters = {} }: APIGatewayProxyEventV2,
  names: readonly string[],
): Readonly<Record<string, string | undefined>> {
  const given = new URLSearchParams(rawQueryString);
  const repeated = names.filter((name) => given.getAll(name).length > 1);
  if (repeated.length === 0) return queryStringParameters;
  throw invalidRequest(repeated.map((path) => ({ path, message: 'must be given once' })));
}

/** Validates the optional header `Idempotency-Key`. */
export function idempotencyKey({ headers }: APIGatewayProxyEventV2): string | undefined {
  const schema = z.object({ 'Idempotency-Key': idempotencyKeySchema });
  return validate(schema, { 'Idempotency-Key': headers['idempotency-key'] })['Idempotency-Key'];
}

/**
 * Whether the caller prefers not to wait for the work (RFC 7240 §4.1). Other preferences are ignored,
 * as §2 asks.
 */
export function prefersAsync({ headers }: APIGatewayProxyEventV2): boolean {
  const preferences = headers.prefer?.split(',') ?? [];
  return preferences.some((preference) => /^\s*respond-async\s*(;|$)/i.test(preference));
}

function parseJson(
  event: APIGatewayProxyEventV2,
  limitBytes: number,
  mediaTypes: readonly string[],
): unknown {
  const contentType = event.headers['content-type'] ?? '';
  const [mediaType = ''] = contentType.split(';');
  if (!mediaTypes.includes(mediaType.trim().toLowerCase())) {
    throw new ServiceError(
      'unsupported_media_type',
      'Send the body as JSON, with the header "Content-Type: application/json".',
    );
  }
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType) ?? [];
  if (!/^utf-?8$/i.test(charset)) {
    throw new ServiceError(
      'unsupported_media_type',
      'Send the body in UTF-8, as JSON always is: leave "charset" out of the Content-Type.',
    );
  }
  const { body = '', isBase64Encoded } = event;
  const lengthBytes = Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8');
  if (lengthBytes > limitBytes) {
    throw new ServiceError(
      'payload_too_large',
      `The body has ${lengthBytes} bytes; this route takes at most ${limitBytes}.`,
    );
  }
  const text = isBase64Encoded ? decoded(Buffer.from(body, 'base64')) : body;
  if (text === undefined || hasReplacement(event, lengthBytes)) {
    const isCompressed = /gzip|deflate|br|zstd/i.test(event.headers['content-encoding'] ?? '');
    throw new ServiceError(
      'invalid_json',
      isCompressed
        ? 'The body is compressed; send it without Content-Encoding.'
        : 'The body is not UTF-8; encode it as UTF-8.',
    );
  }
  // RFC 8259 §8.1: a byte order mark may be ignored.
  const json = text.replace(/^\ufeff/, '');
  if (json.trim() === '') {
    throw new ServiceError('invalid_json', 'The body is empty; send a JSON object.');
  }
  try {
    return JSON.parse(json);
  } catch {
    throw new ServiceError('invalid_json', 'The body is not JSON; check quotes and commas.');
  }
}

/** @returns undefined for what is not UTF-8. */
function decoded(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

/**
 * Whether the gateway has replaced bytes that are not UTF-8. It passes JSON as text, in which each such byte has become
 * U+FFFD: three bytes. The caller may also have sent U+FFFD itself: then the length is that of the request.
 */
function hasReplacement(
  { headers, body = '' }: APIGatewayProxyEventV2,
  lengthBytes: number,
): boolean {
  const sentBytes = headers['content-length'];
  return body.includes('\ufffd') && sentBytes !== undefined && Number(sentBytes) !== lengthBytes;
}

function validate<Schema extends z.ZodMiniType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidRequest(issuesOf(parsed.error, schema));
}

function invalidRequest(issues: readonly Issue[]): ServiceError {
  const [first, ...others] = issues;
  const named = first?.path ? `"${first.path}" ${first.message}` : `The body ${first?.message}`;
  const sentence = named.endsWith('?') ? named : `${named}.`;
  const more = others.length > 0 ? ' There is more; see "issues".' : '';
  return new ServiceError('invalid_request', sentence + more, { issues });
}
