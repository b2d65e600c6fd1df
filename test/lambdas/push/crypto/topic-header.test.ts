import { createHash, createHmac, randomBytes } from 'node:crypto';
import { topicHeader } from '../../../../lambdas/push/crypto/topic-header.ts';

const [auth, other] = [randomBytes(16), randomBytes(16)];

test.each(['score', '', '€'.repeat(64)])('%j becomes 32 characters of base64url', (topic) => {
  const digest = createHash('sha256').update(topic).digest();
  const hmac = createHmac('sha256', auth).update('Carillon topic\0').update(digest).digest();
  const header = topicHeader(topic)(auth);
  expect(header).toBe(hmac.subarray(0, 24).toString('base64url'));
  expect(header).toMatch(/^[\w-]{32}$/);
});

test('it is the same for each push to a subscription, and differs between subscriptions', () => {
  expect(topicHeader('score')(auth)).toBe(topicHeader('score')(auth));
  expect(topicHeader('score')(auth)).not.toBe(topicHeader('score')(other));
  expect(topicHeader('score')(auth)).not.toBe(topicHeader('scores')(auth));
});
