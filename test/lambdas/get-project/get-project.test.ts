import { getProject } from '../../../lambdas/get-project/get-project.ts';
import { knownProject } from '../../fixtures/known-project.ts';

test('a sample has the languages, the channels that most subscribers have, and how many each push service still reaches', async () => {
  const now = new Date('2026-11-20T12:00:00Z');
  const subscriptions = Array.from({ length: 60 }, (_, index) => ({
    updatedAt: now.getTime() - index * 24 * 60 * 60_000,
    channels: [String(index), 'news'],
    ...(index < 7 && { locale: index < 4 ? 'de-CH' : 'de' }),
    origin: index < 40 ? 'https://web.push.apple.com' : `https://wns2-${index}p.notify.windows.com`,
  }));
  const { sample } = await getProject(
    {
      sample: async () => subscriptions,
      usage: async () => ({ subscribers: 60, sends: 0, month: '2026-11' }),
      subscriberCap: 1000,
      monthlySendCap: 1000,
      rateLimitPerMinute: 60,
      checker: { usage() {} },
      clock: () => now,
    },
    knownProject,
    true,
  );
  expect(Object.keys(sample!.channels)).toHaveLength(50);
  expect(sample!.channels.news).toBe(60);
  expect(sample!.locales).toEqual({ de: 7, 'de-CH': 4 });
  // Within 30 days, plus one.
  expect(sample!.seenWithinDays[30]).toBe(32);
  expect(sample!.pushServices).toEqual({
    apple: { subscribers: 40, seenWithin30Days: 32 },
    wns: { subscribers: 20, seenWithin30Days: 0 },
  });
});
