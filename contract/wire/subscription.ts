import * as z from 'zod/mini';
import {
  bytes,
  type ChoiceName,
  choiceFields,
  choiceNames,
  encodeBase64url,
  object,
  text,
  wrong,
  wrongText,
} from './fields.ts';
import { limits } from './limits.ts';
import { readEndpoint, readEndpointUrl } from './push-services.ts';

/** The schema of each member of a choice. */
const choiceShape = Object.fromEntries(
  choiceNames.map((name) => [name, z.optional(choiceFields[name].schema)]),
) as { [Name in ChoiceName]: z.ZodMiniOptional<(typeof choiceFields)[Name]['schema']> };

/**
 * Body of subscribe: the output of `PushSubscription.toJSON()`, and optionally the visitor's choice, the
 * signature of its `userId`, the key that the browser subscribed with, whether a page repeats what was registered before,
 * and the endpoint that this one takes the place of. Other fields, such as `expirationTime`, are ignored.
 */
export function subscribeSchema(extraOrigins: readonly string[]) {
  return object({
    endpoint: endpoint((value) => readEndpoint(value, extraOrigins)),
    keys: object({
      p256dh: bytes(
        isUncompressedPoint,
        'must be base64url of an uncompressed P-256 point (65 bytes)',
      ),
      auth: bytes((decoded) => decoded.length === 16, 'must be base64url of 16 bytes'),
    }),
    ...choiceShape,
    userIdSignature: z.optional(z.string({ error: wrongText('must be text') })),
    applicationServerKey: z.optional(applicationServerKey),
    renewal: z.optional(z.boolean({ error: wrong('must be true or false') })),
    replaces: z.optional(endpoint(readEndpointUrl)),
  }).check(
    z.refine(
      ({ userId, userIdSignature }) => userIdSignature === undefined || typeof userId === 'string',
      {
        error: 'needs "userId", which it signs',
        path: ['userIdSignature'],
      },
    ),
  );
}

/** Compared with the stored keys, which are base64url without padding. */
const applicationServerKey = z.pipe(
  bytes(isUncompressedPoint, 'must be base64url of an uncompressed P-256 point (65 bytes)'),
  z.transform((key: Uint8Array<ArrayBuffer>) => encodeBase64url(key)),
);

/**
 * Query of unsubscribe. Any URL is accepted: an unknown endpoint also returns 200, and one whose
 * push service is no longer accepted must still be removable.
 */
export const unsubscribeSchema = object({ endpoint: endpoint(readEndpointUrl) });

/** A validated body of subscribe: its endpoint parsed, its keys decoded. */
export type SubscribeBody = z.infer<ReturnType<typeof subscribeSchema>>;

/** A browser's subscription. */
export type Subscription = Pick<SubscribeBody, 'endpoint' | 'keys'>;

/** Response of subscribe, unsubscribe and track. */
export const okSchema = z.object({ ok: z.literal(true) });

function endpoint(read: (value: string) => URL | { refusal: string }) {
  const readUrl = z.transform((value: string, context) => {
    const url = read(value);
    const refusal = url instanceof URL ? lengthRefusal(url.href) : url.refusal;
    if (url instanceof URL && refusal === undefined) return endpointOf(url);
    context.issues.push({ code: 'custom', message: refusal, input: value });
    return z.NEVER;
  });
  return z.pipe(text(1, limits.urlLength), readUrl);
}

/** An endpoint, parsed. */
export interface Endpoint {
  /** The whole URL, as a URL parser spells it. */
  readonly href: string;
  readonly origin: string;
  /** The rest of the URL, from its first slash on. */
  readonly path: string;
}

function endpointOf({ href, origin }: URL): Endpoint {
  return { href, origin, path: href.slice(origin.length) };
}

/** Endpoints are stored percent-encoded: a character outside ASCII then takes up to 12. */
function lengthRefusal(normalised: string): string | undefined {
  return normalised.length > limits.urlLength
    ? `must have at most ${limits.urlLength} characters when it is percent-encoded, and has ${normalised.length}`
    : undefined;
}

// NIST P-256 (FIPS 186-5, SP 800-186 §3.2.1.3): y² = x³ − 3x + b over the prime field of p.
const p = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/**
 * Whether bytes are an uncompressed point on P-256: 0x04, then x and y of 32 bytes each. Browsers'
 * keys are; with any other key, a message could not be encrypted.
 */
export function isUncompressedPoint(bytes: Uint8Array): boolean {
  if (bytes.length !== 65 || bytes[0] !== 4) return false;
  const x = integer(bytes.subarray(1, 33));
  const y = integer(bytes.subarray(33));
  return x < p && y < p && (y * y - (x * x * x - 3n * x + b)) % p === 0n;
}

function integer(bytes: Uint8Array): bigint {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  return BigInt(`0x${hex.join('')}`);
}
