import { type IncomingMessage, STATUS_CODES } from 'node:http';

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

export type PushRefusalKind = keyof typeof pushRefusals;

interface RefusalDetail {
  readonly errno?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Becomes an error response with the body `{ code, errno, error, message }`. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly errno: number | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, { errno, headers = {} }: RefusalDetail = {}) {
    super(message);
    this.status = status;
    this.errno = errno ?? null;
    this.headers = headers;
  }

  /** The response body as JSON. */
  get body(): string {
    const { status: code, errno, message } = this;
    return JSON.stringify({ code, errno, error: STATUS_CODES[code], message });
  }
}

export function pushRefusal(kind: PushRefusalKind, message: string): Refusal {
  const { status, errno } = pushRefusals[kind];
  return new Refusal(status, message, {
    errno,
    headers: status === 401 ? { 'www-authenticate': 'vapid' } : {},
  });
}

export function methodNotAllowed(allowed: string): Refusal {
  return new Refusal(405, `Method not allowed: use ${allowed}.`, { headers: { allow: allowed } });
}

/**
 * Reads the whole body of a request. Bytes beyond the limit are read and discarded, so that the
 * connection can serve the next request.
 * @throws {Refusal} 413 if the body is longer than the limit.
 */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    request.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes <= limitBytes) chunks.push(chunk);
      else reject(pushRefusal('tooLarge', `The body is larger than ${limitBytes} bytes.`));
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}
