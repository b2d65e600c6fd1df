import type { Logger } from '@aws-lambda-powertools/logger';
import type { Metrics } from '@aws-lambda-powertools/metrics';
import { pushMetrics } from '../../../contract/infrastructure/metrics.ts';
import type { Slice } from '../../../contract/infrastructure/slice.ts';
import { noCounts } from '../../../contract/wire/counts.ts';
import { observer } from '../../../lambdas/deliver/observer.ts';

test('a fault of every push is logged once per second', () => {
  const lines: unknown[] = [];
  const error = (message: string, line: object) => lines.push({ message, ...line });
  let now = 0;
  const { fault } = observer({ error } as unknown as Logger, () => new Date(now));
  const bug = new TypeError('x is undefined');
  for (now = 0; now <= 2000; now += 100) fault(bug);
  const line = { message: 'push fault', error: bug };
  expect(lines).toEqual([line, line, line]);
});

const quiet = { info() {}, getPersistentLogAttributes: () => ({}) } as unknown as Logger;
const slice = { projectId: 'shop', notificationId: 'n', slice: 0 } as Slice;

test('a metric does not count who is unreached because the owner has stopped the notification, or anybody could have subscribed', () => {
  const published: [string, number][] = [];
  const metrics = {
    addMetadata() {},
    addMetric: (name: string, _: unknown, value: number) => published.push([name, value]),
    publishStoredMetrics() {},
  } as unknown as Metrics;
  const { delivered, responded } = observer(quiet, () => new Date(0), metrics);
  const counts = { ...noCounts, unreached: 7 };
  for (const isStopped of [false, true]) {
    responded(slice, counts, 0, isStopped);
    delivered(slice, { counts, isRead: false }, isStopped);
  }
  responded(slice, counts, 5, false);
  delivered(slice, { counts, unjudged: 7, isRead: true }, false);
  const unreached = published.filter(([name]) => name === pushMetrics.unreached);
  expect(unreached).toEqual([
    ...[
      [pushMetrics.unreached, 7],
      [pushMetrics.unreached, 7],
    ],
    [pushMetrics.unreached, 0],
    [pushMetrics.unreached, 2],
    [pushMetrics.unreached, 0],
  ]);
});
