import { buildPushPayload } from '@block65/webcrypto-web-push';
import { eachInFlight, serve, subject, ttl } from '../sender-process.ts';
import { undiciPost } from '../undici-post.ts';

/** This library only builds requests. Here undici's connection pool sends them. */
serve(({ origin, ca, vapid, payload, inFlight }) => {
  const post = undiciPost(origin, ca, inFlight);
  const message = { data: payload, options: { ttl } };
  return (subscriptions) =>
    eachInFlight(subscriptions, inFlight, async ({ endpoint, keys }) => {
      const subscription = { endpoint, expirationTime: null, keys };
      const { headers, body } = await buildPushPayload(message, subscription, {
        subject,
        ...vapid,
      });
      return post(endpoint, new Headers(headers), body);
    });
});
