import https from 'node:https';
import webpush from 'web-push';
import { eachInFlight, serve, subject, ttl } from '../sender-process.ts';

/** The library's encryption and requests, with one VAPID token for all pushes: what a careful user of it writes. */
serve(({ ca, origin, vapid: { publicKey, privateKey }, payload, inFlight }) => {
  const agent = new https.Agent({ keepAlive: true, maxSockets: inFlight, ca });
  const encoding = webpush.supportedContentEncodings.AES_128_GCM;
  const { Authorization } = webpush.getVapidHeaders(
    origin,
    subject,
    publicKey,
    privateKey,
    encoding,
  );
  const options = { headers: { Authorization }, TTL: ttl, agent };
  return (subscriptions) =>
    eachInFlight(subscriptions, inFlight, async (subscription) => {
      const { statusCode } = await webpush.sendNotification(subscription, payload, options);
      return { status: statusCode };
    });
});
