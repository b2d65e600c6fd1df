import { stoppedText } from '../../../admin/commands/notifications.ts';

const notification = {
  ...{ id: '0199f3c1-6d5e-7b1a-9c53-0a4f6d2e8b71', title: 'Wrong', audience: 'everyone' },
  ...{ sentAt: '2026-11-20T08:00:00Z', attempted: 3, delivered: 3, removed: 0, failed: 0 },
  ...{ shown: 0, clicked: 0, unreached: 97 },
};

test.each([
  ['stopping', /^"Wrong" \(.*\) is stopping\. 3 of .* got it so far\. /],
  ['stopped', /^Stopped "Wrong" \(.*\)\. 3 of .* got it\. /],
  ['sent', /^"Wrong" \(.*\) had ended\. 3 of .* got it\. /],
] as const)('of a notification that is %s, it is said what is known', (status, text) => {
  expect(stoppedText({ ...notification, status } as never)).toMatch(text);
});
