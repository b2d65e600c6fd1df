import { getProject } from '../../../lambdas/get-project/get-project.ts';
import { knownProject } from '../../fixtures/known-project.ts';

test('a sample has the channels that most subscribers have, whatever their names', async () => {
  const now = new Date('2026-11-20T12:00:00Z');
  const page = Array.from({ length: 60 }, (_, index) => ({
    updatedAt: now.getTime(),
    channels: [String(index), 'news'],
  }));
  const { sample } = await getProject(
    {
      sample: async () => [page],
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
});
