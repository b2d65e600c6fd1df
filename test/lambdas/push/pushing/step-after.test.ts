import { type Outcome, stepAfter } from '../../../../lambdas/push/pushing/outcome.ts';

const outcomes: Readonly<Record<string, Outcome>> = {
  delivered: { kind: 'delivered' },
  gone: { kind: 'gone' },
  refused: { kind: 'failed', reason: 'refused' },
  key_mismatch: { kind: 'failed', reason: 'key_mismatch' },
  throttled: { kind: 'transient', reason: 'throttled' },
  'for 30 s': { kind: 'transient', reason: 'throttled', retryAfterMs: 30_000 },
  reset: { kind: 'transient', reason: 'no_response' },
  timeout: { kind: 'transient', reason: 'no_response', isTimeout: true },
};

/** Half of each random pause is random. */
const random = 0;

test('what a push does after each outcome, by its attempts and by who waits', () => {
  const rows = [
    ['attempt', 'other pair', 'awaited', 's left', ...Object.keys(outcomes)],
    ...[1, 2, 3].flatMap((attempts) =>
      [true, false].flatMap((hasOtherPair) =>
        [true, false].flatMap((isAwaited) =>
          [1_000_000, 20_000, 100].map((msLeft) => [
            ...[attempts, hasOtherPair ? 'yes' : 'no', isAwaited ? 'yes' : 'no', msLeft / 1000],
            ...Object.values(outcomes).map((outcome) => {
              const push = { attempts, hasOtherPair, isAwaited, msLeft, random };
              const step = stepAfter(outcome, push);
              if (step.kind === 'retry') return `again ${step.afterMs}`;
              return step.kind === 'settle' ? step.as.kind : 'other pair';
            }),
          ]),
        ),
      ),
    ),
  ];
  expect(
    rows
      .map((row) =>
        row
          .map((cell) => String(cell).padEnd(13))
          .join('')
          .trimEnd(),
      )
      .join('\n'),
  ).toMatchInlineSnapshot(`
"attempt      other pair   awaited      s left       delivered    gone         refused      key_mismatch throttled    for 30 s     reset        timeout
1            yes          yes          1000         delivered    gone         failed       other pair   again 250    again 30000  again 250    failed
1            yes          yes          20           delivered    gone         failed       other pair   again 250    failed       again 250    failed
1            yes          yes          0.1          delivered    gone         failed       other pair   failed       failed       failed       failed
1            yes          no           1000         delivered    gone         failed       other pair   again 250    again 30000  again 250    again 250
1            yes          no           20           delivered    gone         failed       other pair   again 250    failed       again 250    again 250
1            yes          no           0.1          delivered    gone         failed       other pair   failed       failed       failed       failed
1            no           yes          1000         delivered    gone         failed       failed       again 250    again 30000  again 250    failed
1            no           yes          20           delivered    gone         failed       failed       again 250    failed       again 250    failed
1            no           yes          0.1          delivered    gone         failed       failed       failed       failed       failed       failed
1            no           no           1000         delivered    gone         failed       failed       again 250    again 30000  again 250    again 250
1            no           no           20           delivered    gone         failed       failed       again 250    failed       again 250    again 250
1            no           no           0.1          delivered    gone         failed       failed       failed       failed       failed       failed
2            yes          yes          1000         delivered    gone         failed       other pair   again 500    again 30000  again 500    failed
2            yes          yes          20           delivered    gone         failed       other pair   again 500    failed       again 500    failed
2            yes          yes          0.1          delivered    gone         failed       other pair   failed       failed       failed       failed
2            yes          no           1000         delivered    gone         failed       other pair   again 500    again 30000  again 500    again 500
2            yes          no           20           delivered    gone         failed       other pair   again 500    failed       again 500    again 500
2            yes          no           0.1          delivered    gone         failed       other pair   failed       failed       failed       failed
2            no           yes          1000         delivered    gone         failed       failed       again 500    again 30000  again 500    failed
2            no           yes          20           delivered    gone         failed       failed       again 500    failed       again 500    failed
2            no           yes          0.1          delivered    gone         failed       failed       failed       failed       failed       failed
2            no           no           1000         delivered    gone         failed       failed       again 500    again 30000  again 500    again 500
2            no           no           20           delivered    gone         failed       failed       again 500    failed       again 500    again 500
2            no           no           0.1          delivered    gone         failed       failed       failed       failed       failed       failed
3            yes          yes          1000         delivered    gone         failed       other pair   failed       failed       failed       failed
3            yes          yes          20           delivered    gone         failed       other pair   failed       failed       failed       failed
3            yes          yes          0.1          delivered    gone         failed       other pair   failed       failed       failed       failed
3            yes          no           1000         delivered    gone         failed       other pair   failed       failed       failed       failed
3            yes          no           20           delivered    gone         failed       other pair   failed       failed       failed       failed
3            yes          no           0.1          delivered    gone         failed       other pair   failed       failed       failed       failed
3            no           yes          1000         delivered    gone         failed       failed       failed       failed       failed       failed
3            no           yes          20           delivered    gone         failed       failed       failed       failed       failed       failed
3            no           yes          0.1          delivered    gone         failed       failed       failed       failed       failed       failed
3            no           no           1000         delivered    gone         failed       failed       failed       failed       failed       failed
3            no           no           20           delivered    gone         failed       failed       failed       failed       failed       failed
3            no           no           0.1          delivered    gone         failed       failed       failed       failed       failed       failed"
`);
});
