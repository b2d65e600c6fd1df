import { createPrivateKey, sign } from 'node:crypto';
import webpush from 'web-push';

export const sender = webpush.generateVAPIDKeys();
export const subject = 'mailto:operator@example.com';

interface Target {
  toJSON(): { endpoint: string; keys: { p256dh: string; auth: string } };
}

/** The request that web-push would send; a test can change it first. */
export function pushRequest(target: Target, payload: string | Buffer, keys = sender) {
  const { endpoint, headers, body } = webpush.generateRequestDetails(target.toJSON(), payload, {
    vapidDetails: { subject, ...keys },
    TTL: 60,
  });
  // fetch sets this header and does not let callers set it.
  const { 'Content-Length': _, ...rest } = headers;
  return { endpoint, headers: rest, body: new Uint8Array(body!) };
}

export function post({ endpoint, headers, body }: ReturnType<typeof pushRequest>) {
  return fetch(endpoint, { method: 'POST', headers, body });
}

/** Encrypts and sends a payload with web-push. */
export function push(target: Target, payload: string | Buffer = 'ding', keys = sender) {
  return post(pushRequest(target, payload, keys));
}

/** Status, error number and message of a refusal. */
export async function refusalOf(response: Response) {
  const { status, statusText } = response;
  const { errno, message, ...named } = (await response.json()) as Record<string, unknown>;
  expect(named).toEqual({ code: status, error: statusText });
  return { status, errno, message };
}

/** A VAPID header with any claims, including those that web-push refuses. */
export function vapidHeader(claims: object, { alg = 'ES256', keys = sender } = {}): string {
  const point = Buffer.from(keys.publicKey, 'base64url');
  const key = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      x: point.toString('base64url', 1, 33),
      y: point.toString('base64url', 33),
      d: keys.privateKey,
    },
  });
  const signed = [{ typ: 'JWT', alg }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `vapid t=${signed}.${signature.toString('base64url')}, k=${keys.publicKey}`;
}
