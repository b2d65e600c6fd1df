import type { EventType } from '../../../contract/wire/event.ts';
import { eventLog } from '../../../lambdas/http/service-logger.ts';

/** Logs events of these types at these times. @returns the counts of each line; null for an event without a line. */
function logged(events: readonly (readonly [atMs: number, type: EventType])[]) {
  let nowMs = 0;
  const lineOf = eventLog(() => new Date(nowMs));
  return events.map(([atMs, type]) => {
    nowMs = atMs;
    return lineOf(type);
  });
}

test('a line counts the events since the line before it', () => {
  expect(
    logged([
      [10_000, 'shown'],
      [10_001, 'shown'],
      [10_500, 'clicked'],
      [10_999, 'shown'],
      [11_000, 'clicked'],
      [11_999, 'shown'],
      [12_000, 'shown'],
    ]),
  ).toEqual([
    { shown: 1, clicked: 0 },
    ...[null, null, null],
    { shown: 2, clicked: 2 },
    null,
    { shown: 2, clicked: 0 },
  ]);
});

test('events that are a second apart have a line each', () => {
  const line = { shown: 1, clicked: 0 };
  expect(logged([0, 1000, 3000].map((atMs) => [atMs, 'shown']))).toEqual([line, line, line]);
});
