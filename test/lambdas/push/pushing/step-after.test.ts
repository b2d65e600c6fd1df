import { type Outcome, type Step, stepAfter } from '../../../../lambdas/push/pushing/push.ts';

const outcomes = {
  delivered: { kind: 'delivered' },
  gone: { kind: 'gone' },
  refused: { kind: 'failed', reason: 'refused' },
  key_mismatch: { kind: 'failed', reason: 'key_mismatch' },
  throttled: { kind: 'transient', reason: 'throttled' },
  'for 30 s': { kind: 'transient', reason: 'throttled', retryAfterMs: 30_000 },
  reset: { kind: 'transient', reason: 'no_response' },
  'timeout while connecting': { kind: 'transient', reason: 'no_response', isTimeout: true },
  timeout: { kind: 'transient', reason: 'no_response', isTimeout: true, isSent: true },
} as const satisfies Record<string, Outcome>;

/** The first attempt of a push that nobody waits for, with much time left. */
const push = {
  ...{ attempts: 1, hasOtherPair: false, isAwaited: false, msLeft: 1_000_000, random: 0 },
};

const noResponse = { kind: 'failed', reason: 'no_response' } as const;
const settled = { kind: 'settle' };
const again = (afterMs: number): Step => ({ kind: 'retry', afterMs });

test.each<[keyof typeof outcomes, Partial<typeof push>, object]>([
  ['delivered', { hasOtherPair: true }, { ...settled, as: outcomes.delivered }],
  ['gone', { hasOtherPair: true }, { ...settled, as: outcomes.gone }],
  ['refused', { hasOtherPair: true }, { ...settled, as: outcomes.refused }],
  ['key_mismatch', {}, { ...settled, as: outcomes.key_mismatch }],
  ['key_mismatch', { hasOtherPair: true, attempts: 3, msLeft: 0 }, { kind: 'use_other_pair' }],
  // Half of each pause is random.
  ['throttled', {}, again(250)],
  ['throttled', { random: 0.5 }, again(375)],
  ['throttled', { hasOtherPair: true, isAwaited: true }, again(250)],
  ['throttled', { attempts: 2 }, again(500)],
  ['throttled', { attempts: 3 }, settled],
  ['throttled', { msLeft: 251 }, again(250)],
  ['throttled', { msLeft: 250 }, settled],
  ['for 30 s', { attempts: 2 }, again(30_000)],
  ['for 30 s', { msLeft: 30_000 }, { ...settled, as: { kind: 'failed', reason: 'throttled' } }],
  ['reset', { isAwaited: true }, again(250)],
  ['timeout while connecting', {}, again(250)],
  ['timeout while connecting', { isAwaited: true }, { ...settled, as: noResponse }],
  // The push service may have accepted it.
  ['timeout', {}, { ...settled, as: noResponse }],
  ['timeout', { isAwaited: true }, { ...settled, as: noResponse }],
])('after %s, a push with %j takes the step %j', (name, change, step) => {
  expect(stepAfter(outcomes[name], { ...push, ...change })).toMatchObject(step);
});
