import type { Logger } from '@aws-lambda-powertools/logger';
import { type CountChecker, countChecker } from '../../../lambdas/results/count-checker.ts';

type Counts = Parameters<CountChecker['notification']>[2];

/** What is logged during checks: the message, and the contradictions. */
function logged(check: (checker: CountChecker) => void) {
  const lines: unknown[] = [];
  const error = (message: string, line: object) => {
    lines.push({ message, ...line });
  };
  check(countChecker({ error } as unknown as Logger));
  return lines;
}

const counts = { attempted: 6, delivered: 3, removed: 1, failed: 2 };
const failures = { refused: 1, throttled: 1 };

test.each<Counts>([
  { attempted: 0, delivered: 0, removed: 0, failed: 0 },
  { attempted: 4, delivered: 3, removed: 1, failed: 0, failures: {}, unreached: 7 },
  { ...counts, failures },
])('counts that add up are not logged: %j', (intact) => {
  expect(logged((checker) => checker.notification('shop', 'n', intact))).toEqual([]);
});

test.each<[string, Counts, string[]]>([
  ['a sum', { ...counts, failures, attempted: 7 }, ['attempted is 7, not 3 + 1 + 2']],
  [
    'the reasons',
    { ...counts, failures: { refused: 1 } },
    ['failed is 2, and the reasons add up to 1'],
  ],
  ['missing reasons', counts, ['failed is 2, and the reasons add up to 0']],
  ['a negative count', { ...counts, failures, attempted: 2, delivered: -1 }, ['delivered is -1']],
  [
    'a negative reason',
    { ...counts, failures: { refused: 3, interrupted: -1 } },
    ['interrupted is -1'],
  ],
  ['negative unreached', { ...counts, failures, unreached: -4 }, ['unreached is -4']],
])('a contradiction in %s is logged with the notification', (_, wrong, contradictions) => {
  expect(logged((checker) => checker.notification('shop', 'n', wrong))).toEqual([
    { message: 'counts disagree', project_id: 'shop', notification_id: 'n', contradictions },
  ]);
});

test('a counter below 0 is logged with the project', () => {
  const lines = logged((checker) => {
    checker.usage('shop', { subscribers: 0, sends: 12 });
    checker.usage('shop', { subscribers: -1, sends: 12 });
  });
  const contradictions = ['subscribers is -1'];
  expect(lines).toEqual([{ message: 'counts disagree', project_id: 'shop', contradictions }]);
});
