import { noCounts } from '../../../../contract/wire/counts.ts';
import { pushVirtually, recipientsAt } from '../../../fixtures/virtual-pushing.ts';

const origins = Array.from({ length: 2000 }, (_, index) => `https://x${index}.push.apple.com`);

/** Three recipients at each origin, in the order in which a table has them: mixed. */
const recipients = [0, 1, 2].flatMap((number) =>
  origins.flatMap((origin) => recipientsAt(origin, number + 1).slice(number)),
);

test('one token is signed for each origin, when its first push is prepared', async () => {
  const { done, pushes, signed } = pushVirtually({ recipients });
  expect(signed).toHaveLength(Math.ceil(32 / 3));
  expect(await done).toEqual({ ...noCounts, attempted: 6000, delivered: 6000 });
  expect(signed.sort()).toEqual([...origins].sort());
  expect(pushes).toHaveLength(6000);
});
