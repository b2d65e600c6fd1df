import https from 'node:https';
import webpush from 'web-push';
import { type SenderTask, serve, subject, ttl } from '../sender-process.ts';

/**
 * `sendNotification` as in the library's documentation, with a keep-alive agent. With `cachesToken` one VAPID token
 * serves all pushes: what a careful user of the library writes.
 */
serve((task) => {
  const { ca, inFlight, vapid, payload } = task;
  const agent = new https.Agent({ keepAlive: true, maxSockets: inFlight, ca });
  const authorization = task.cachesToken
    ? { headers: { Authorization: tokenOf(task) } }
    : { vapidDetails: { subject, ...vapid } };
  const options = { ...authorization, TTL: ttl, agent };
  return async (subscriptions) => {
    const waiting = subscriptions.values();
    const worker = async () => {
      for (const subscription of waiting) {
        const { statusCode } = await webpush.sendNotification(subscription, payload, options);
        if (statusCode !== 201)
          throw new Error(`The push server responded ${statusCode}, not 201.`);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
  };
});

function tokenOf({ origin, vapid: { publicKey, privateKey } }: SenderTask): string {
  const encoding = webpush.supportedContentEncodings.AES_128_GCM;
  return webpush.getVapidHeaders(origin, subject, publicKey, privateKey, encoding).Authorization;
}
