import type { Failures } from '../../../contract/wire/counts.ts';
import { pushServiceHealth } from '../../../lambdas/deliver/push-service-health.ts';
import type { ServiceOutcome } from '../../../lambdas/push/pushing/push-service.ts';

const nothing = { failing: 0, refused: 0, vapidRefused: 0, unconfirmed: 0 };

function outcome(
  pushService: string,
  delivered: number,
  failures: Failures = {},
  unknownHosts = 0,
): ServiceOutcome {
  return { pushService, delivered, failures, unknownHosts };
}

function judged(...outcomes: readonly ServiceOutcome[]) {
  return pushServiceHealth(() => new Date(0))(outcomes);
}

test.each<[string, readonly ServiceOutcome[], object]>([
  ['a push service that is down', [outcome('fcm', 0, { unavailable: 30 })], { failing: 30 }],
  [
    'one that is down beside another, to which somebody has subscribed 10,000 browsers',
    [outcome('fcm', 0, { no_response: 30 }), outcome('mozilla', 10_000)],
    { failing: 30 },
  ],
  ['a fifth that fails', [outcome('wns', 80, { unavailable: 20 })], { failing: 20 }],
  [
    'an extra origin that is down',
    [outcome('https://push.example', 0, { unavailable: 9 })],
    { failing: 9 },
  ],
  [
    'a wrong pair, which every push service refuses',
    [outcome('fcm', 0, { vapid_refused: 900 }), outcome('apple', 0, { vapid_refused: 100 })],
    { refused: 1000, vapidRefused: 1000 },
  ],
  [
    'a subject that one push service refuses',
    [outcome('fcm', 1500), outcome('apple', 0, { vapid_refused: 100 })],
    { refused: 100, vapidRefused: 100 },
  ],
  [
    'a small site with a wrong pair',
    [outcome('fcm', 0, { vapid_refused: 30 })],
    { vapidRefused: 30 },
  ],
  [
    'what push services say of many invented endpoints',
    [outcome('apple', 0, { refused: 500 }), outcome('mozilla', 20, { refused: 900 })],
    { refused: 500 },
  ],
  [
    'what a push service says of most subscriptions',
    [outcome('fcm', 20, { gone_unconfirmed: 80 })],
    { unconfirmed: 80 },
  ],
])('%s is suspect', (_, outcomes, expected) => {
  expect(judged(...outcomes)).toEqual({ ...nothing, ...expected });
});

test.each<[string, readonly ServiceOutcome[]]>([
  ['fewer than a fifth that fails', [outcome('wns', 81, { unavailable: 20 })]],
  ['hosts that do not exist', [outcome('wns', 10, { no_response: 50 }, 50)]],
  [
    'invented subscriptions beside one that a push service accepts',
    [outcome('fcm', 1, { refused: 5000, vapid_refused: 5000 })],
  ],
  [
    'invented subscriptions at a push service that dropped one of a browser that blocks the site',
    [outcome('wns', 0, { dropped: 1, refused: 5000, vapid_refused: 5000 })],
  ],
  [
    '99 invented subscriptions where the project has none, or 4.9 % of an audience',
    [
      outcome('jmt17', 0, { refused: 99 }),
      outcome('apple', 0, { refused: 243 }),
      outcome('fcm', 4658),
    ],
  ],
  ['hosts that are not known by name', [outcome('other', 0, { no_response: 9000, refused: 9000 })]],
  [
    'what the owner of a project must repair',
    [outcome('fcm', 0, { key_mismatch: 900, too_large: 9 })],
  ],
])('%s is not suspect', (_, outcomes) => {
  expect(judged(...outcomes)).toEqual(nothing);
});

test('single pushes are judged with those of the five minutes before', () => {
  let now = 0;
  const suspectIn = pushServiceHealth(() => new Date(now));
  const one = (failures: Failures) =>
    suspectIn([outcome('fcm', Object.keys(failures).length === 0 ? 1 : 0, failures)]).failing;
  for (; now < 9000; now += 1000) one({});
  expect([one({ unavailable: 1 }), one({ unavailable: 1 })]).toEqual([0, 0]);
  expect(one({ unavailable: 1 })).toBe(1);
  now = 299_999;
  expect(one({ unavailable: 1 })).toBe(1);
  now = 300_000;
  expect([one({}), one({}), one({}), one({})]).toEqual([0, 0, 0, 0]);
  expect(one({ unavailable: 1 })).toBe(1);
});
