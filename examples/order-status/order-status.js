import { createHmac } from 'node:crypto';
import { CarillonServer } from 'carillon/server';

const { CARILLON_SECRET_KEY, SITE = 'http://localhost:8000' } = process.env;
// Better a secret that stays: with a replaced one, what is repeated has another key, and is sent twice.
const { IDEMPOTENCY_SECRET = CARILLON_SECRET_KEY } = process.env;
const carillon = CarillonServer.fromEnvironment();

const texts = {
  paid: 'Thank you. We are packing your parcel.',
  shipped: 'Your parcel is on its way.',
  delivered: 'Your parcel has arrived.',
};

/** Tells a customer the new status of an order. A repeated call for the same status notifies nobody again. */
function notify(userId, orderId, status) {
  const notification = {
    userIds: [userId],
    title: `Order ${orderId}: ${status}`,
    body: texts[status],
    url: `${SITE}/orders/${orderId}`,
    // A newer status replaces an older one: in the push service while the browser is offline, and on the screen.
    topic: `order-${orderId}`,
    tag: `order-${orderId}`,
    ttl: 24 * 60 * 60,
  };
  // If a status can come back, use an id of the change instead. Nobody can guess the HMAC of it. For 24 hours, another
  // text with the same key gets 422.
  const change = `order ${orderId} ${status} ${userId}`;
  const idempotencyKey = createHmac('sha256', IDEMPOTENCY_SECRET).update(change).digest('hex');
  return carillon.send(notification, { idempotencyKey });
}

const [userId, orderId, status] = process.argv.slice(2);
if (!Object.keys(texts).includes(status)) {
  console.error(`Usage: npm start -- <user id> <order id> ${Object.keys(texts).join('|')}`);
  process.exit(2);
}
const { attempted, delivered } = await notify(userId, orderId, status);
console.log(
  attempted === 0
    ? `${userId} has no subscribed browser.`
    : `Delivered to ${delivered} of ${attempted} browsers of ${userId}.`,
);
