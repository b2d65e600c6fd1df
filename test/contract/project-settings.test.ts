import { limitOf, publicSettings, rateLimitOf, withDefaults } from '../../contract/wire/project.ts';

test('defaults are added to what was set, and replace nothing', () => {
  const set = { name: 'Shop', userIds: 'signed', events: false } as const;
  expect(withDefaults(set)).toEqual({ ...set, shownSample: 1 });
});

test('a limit of the project comes before that of the deployment, also if it is none', () => {
  expect([undefined, null, 5].map((own) => limitOf(own, 10))).toEqual([10, null, 5]);
});

test('the rate limit of an action comes before that of all actions', () => {
  const settings = { rateLimitPerMinute: 20, trackPerMinute: 600, sendPerMinute: null };
  const limits = (['track', 'send', 'subscribe'] as const).map((action) =>
    rateLimitOf(settings, action, 60),
  );
  expect(limits).toEqual([600, null, 20]);
  expect(rateLimitOf({}, 'track', 60)).toBe(60);
});

test('API and console show the public settings only', () => {
  expect(publicSettings(withDefaults({ name: 'Shop', subscriberCap: 7 }))).toEqual({
    name: 'Shop',
  });
});
