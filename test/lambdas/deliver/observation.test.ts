import type { Logger } from '@aws-lambda-powertools/logger';
import { faultLogger } from '../../../lambdas/deliver/observation.ts';

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
