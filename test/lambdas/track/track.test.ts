import type { ProjectRef } from '../../../contract/project.ts';
import { track } from '../../../lambdas/track/track.ts';

const project = { ref: 'shop-1' as ProjectRef };
const id = '01890a5d-ac96-774b-bcce-b302099a8057';

function recorded(isKnown: boolean) {
  const count = jest.fn(async () => isKnown);
  return { counters: { count }, count };
}

test('an event is counted in its counter', async () => {
  const { counters, count } = recorded(true);
  await track(counters, project, id, 3, 'clicked');
  expect(count.mock.calls).toEqual([['shop-1', id, 3, 'clicked']]);
});

test('an event of an unknown counter is not found', async () => {
  const { counters } = recorded(false);
  await expect(track(counters, project, id, 3, 'shown')).rejects.toMatchObject({
    code: 'notification_not_found',
  });
});

test.each([
  ['id', undefined, 0],
  ['counter', id, undefined],
])(
  'an event with an invalid %s is not found, without a call',
  async (_, notificationId, counter) => {
    const { counters, count } = recorded(true);
    await expect(track(counters, project, notificationId, counter, 'shown')).rejects.toMatchObject({
      code: 'notification_not_found',
    });
    expect(count).not.toHaveBeenCalled();
  },
);
