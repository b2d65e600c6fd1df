import { track } from '../../../lambdas/track/track.ts';
import { project } from '../deliver/recorded-share-dependencies.ts';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';

function recorded(isKnown: boolean) {
  const count = jest.fn(async () => isKnown);
  return { tallies: { count }, count };
}

test('an event is counted in its tally', async () => {
  const { tallies, count } = recorded(true);
  await track(tallies, project, id, 3, 'clicked');
  expect(count.mock.calls).toEqual([['shop', id, 3, 'clicked']]);
});

test('an event of an unknown tally is not found', async () => {
  const { tallies } = recorded(false);
  await expect(track(tallies, project, id, 3, 'shown')).rejects.toMatchObject({
    code: 'notification_not_found',
  });
});

test.each([
  ['id', undefined, 0],
  ['tally', id, undefined],
])('an event with an invalid %s is not found, without a call', async (_, notificationId, tally) => {
  const { tallies, count } = recorded(true);
  await expect(track(tallies, project, notificationId, tally, 'shown')).rejects.toMatchObject({
    code: 'notification_not_found',
  });
  expect(count).not.toHaveBeenCalled();
});
