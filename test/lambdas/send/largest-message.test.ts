import { limits } from '../../../contract/wire/limits.ts';
import { largestMessage, usersOf } from '../../../lambdas/send/sending.ts';

const content = { title: 'T', body: '{{v}}' };

/** Checks a send to recipients with bodies of these lengths, in bytes. */
function check(...lengths: readonly number[]) {
  const recipients = lengths.map((length, index) => ({
    userId: `u${index}`,
    values: { v: 'x'.repeat(length) },
  }));
  const notification = {
    ...{ id: 'id', sentAt: new Date(0), content },
    division: {
      ...{ users: lengths.length, conditions: {}, slices: 1, countersPerSlice: 1 },
      respondedAsync: false,
    },
  };
  const audience = usersOf({ ...content, recipients })!;
  return () => largestMessage(notification, audience, 'https://push.example.com/events');
}

test('each message of a send with values must fit, and the error names the first that does not', () => {
  const envelope = 300;
  const length = limits.messageBytes - envelope;
  expect(check(1, length, 1)).not.toThrow();
  expect(check(1, length, 1)()).toBe(check(length)());
  expect(check(1, 1, limits.messageBytes, limits.messageBytes)).toThrow(
    /^The notification for recipients\[2\] is \d+ bytes too large/,
  );
});
