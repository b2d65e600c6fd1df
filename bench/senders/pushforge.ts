import { buildPushHTTPRequest } from '@pushforge/builder';
import { eachInFlight, serve, subject, ttl } from '../sender-process.ts';
import { undiciPost } from '../undici-post.ts';

/** This library only builds requests. Here undici's connection pool sends them. */
serve(({ origin, ca, vapid, payload, inFlight }) => {
  const post = undiciPost(origin, ca, inFlight);
  const point = Buffer.from(vapid.publicKey, 'base64url');
  const privateJWK = {
    kty: 'EC',
    crv: 'P-256',
    x: point.toString('base64url', 1, 33),
    y: point.toString('base64url', 33),
    d: vapid.privateKey,
  };
  const message = { payload: JSON.parse(payload), adminContact: subject, options: { ttl } };
  return (subscriptions) =>
    eachInFlight(subscriptions, inFlight, async (subscription) => {
      const { headers, body } = await buildPushHTTPRequest({ privateJWK, message, subscription });
      return post(subscription.endpoint, new Headers(headers), new Uint8Array(body));
    });
});
