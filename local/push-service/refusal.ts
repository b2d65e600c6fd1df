import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { readBody as readWholeBody } from 'aws-emulator/loopback';

/**
 * Status and error number of each kind of refusal. The numbers are from Mozilla's push service,
 * which has one number for all VAPID errors; only their messages differ.
 */
const pushRefusals = {
  invalidEncryption: { status: 400, errno: 110 },
  missingTtl: { status: 400, errno: 111 },
  invalidTtl: { status: 400, errno: 112 },
  invalidTopic: { status: 400, errno: 113 },
  invalidVapid: { status: 401, errno: 109 },
  unknownEndpoint: { status: 404, errno: 102 },
  gone: { status: 410, errno: 106 },
  tooLarge: { status: 413, errno: 104 },
} as const;

/** Becomes an error response with the body `{ code, errno, error, message }`. */
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
    return JSON.stringify({ code, errno, error: STATUS_CODES[code], message });
  }
}

export function pushRefusal(kind: keyof typeof pushRefusals, message: string): Refusal {
  const { status, errno } = pushRefusals[kind];
  return new Refusal(status, message, status === 401 ? { 'www-authenticate': 'vapid' } : {}, errno);
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
