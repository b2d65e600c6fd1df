import https from 'node:https';
import webpush from 'web-push';
import { eachInFlight, serve, subject, ttl } from '../sender-process.ts';

/** `sendNotification` as in the library's documentation, with a keep-alive agent. */
serve(({ ca, vapid, payload, inFlight }) => {
  const agent = new https.Agent({ keepAlive: true, maxSockets: inFlight, ca });
  const options = { vapidDetails: { subject, ...vapid }, TTL: ttl, agent };
  return (subscriptions) =>
    eachInFlight(subscriptions, inFlight, async (subscription) => {
      const { statusCode } = await webpush.sendNotification(subscription, payload, options);
      return { status: statusCode };
    });
});
