import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { readBody as readWholeBody } from 'aws-emulator/loopback';

/** Mozilla's push service closes the connection after some refusals. */
const closing = { connection: 'close' };

/**
 * Status, error number and headers of each kind of refusal, as Mozilla's push service (autopush-rs 1.83) responds. It has
 * one number for all VAPID errors; only their messages differ.
 */
const pushRefusals = {
  invalidEncryption: { status: 400, errno: 110 },
  missingTtl: { status: 400, errno: 111 },
  invalidTopic: { status: 400, errno: 113 },
  invalidTtl: { status: 400, errno: 114 },
  invalidVapid: { status: 401, errno: 109, headers: { ...closing, 'www-authenticate': 'vapid' } },
  gone: { status: 410, errno: 106, headers: { 'cache-control': 'max-age=86400' } },
  tooLarge: { status: 413, errno: 104 },
} as const;

/** Becomes an error response with the body `{ code, errno, error, message }`, or none if there is no message. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly status: number,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly errno: number | null = null,
  ) {
    super(message);
  }

  /** The response body as JSON. */
  get body(): string {
    const { status: code, errno, message } = this;
    if (message === '') return '';
    return JSON.stringify({ code, errno, error: STATUS_CODES[code], message });
  }
}

export function pushRefusal(kind: keyof typeof pushRefusals, message: string): Refusal {
  const { status, errno, headers } = { headers: {}, ...pushRefusals[kind] };
  return new Refusal(status, message, headers, errno);
}

/** There is no such endpoint. */
export function unknownEndpoint(): Refusal {
  return new Refusal(404, '', closing);
}

export function methodNotAllowed(allowed: string): Refusal {
  return new Refusal(405, `Method not allowed: use ${allowed}.`, { allow: allowed });
}

/** Reads the whole body of a request. @throws {Refusal} 413 if it is longer than the limit. */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const body = await readWholeBody(request, limitBytes);
  if (body !== undefined) return body;
  throw pushRefusal('tooLarge', `The body is larger than ${limitBytes} bytes.`);
}
