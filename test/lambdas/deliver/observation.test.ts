import type { Logger } from '@aws-lambda-powertools/logger';
import { noCounts } from '../../../contract/counts.ts';
import { failureReasonNames } from '../../../contract/failure-reasons.ts';
import type { Share } from '../../../contract/share.ts';
import { faultLogger, type Publish, shareObserver } from '../../../lambdas/deliver/observation.ts';

test('a fault of every push is logged once per second', () => {
  const lines: unknown[] = [];
  const error = (message: string, line: object) => lines.push({ message, ...line });
  let now = 0;
  const log = faultLogger({ error } as unknown as Logger, () => new Date(now));
  const fault = new TypeError('x is undefined');
  for (now = 0; now <= 2000; now += 100) log(fault);
  const line = { message: 'push fault', error: fault };
  expect(lines).toEqual([line, line, line]);
});

const quiet = { info() {} } as unknown as Logger;
const share = { projectId: 'shop', notificationId: 'n', firstTally: 0 } as Share;

test('a metric counts the failures that only the owner of the project can repair', () => {
  const published: Parameters<Publish>[1][] = [];
  const observer = shareObserver(quiet, (_, values) => published.push(values));
  for (const reason of failureReasonNames) {
    const result = { ...noCounts, attempted: 2, failed: 2, failures: { [reason]: 2 } };
    observer.delivered(share, { kind: 'ended', result: { ...result, isComplete: true } });
  }
  const reasons = failureReasonNames.filter((_, index) => published[index]!.failedForOwner === 2);
  expect(reasons).toEqual(['dropped', 'key_mismatch', 'too_large']);
  expect(published.filter(({ failedForOwner }) => failedForOwner === 0)).toHaveLength(9);
});
