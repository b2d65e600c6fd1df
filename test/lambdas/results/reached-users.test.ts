import { countReached, isReached, ReachedUsers } from '../../../lambdas/results/reached-users.ts';

test('each user has a bit of its own, also above a byte', () => {
  for (const user of [0, 7, 8, 999]) {
    const reached = new ReachedUsers(1000);
    reached.add(user);
    reached.add(user);
    const bits = reached.bits();
    expect(bits).toHaveLength(125);
    const all = Array.from({ length: 1000 }, (_, index) => index);
    expect(all.filter((index) => isReached(bits, index))).toEqual([user]);
    expect(countReached(bits)).toBe(1);
  }
});

test('bits of another invocation are added, and a copy does not change', () => {
  const [one, other] = [new ReachedUsers(10), new ReachedUsers(10)];
  one.add(1);
  other.add(9);
  const before = one.bits();
  one.addAll(other.bits());
  expect([...before]).toEqual([2, 0]);
  expect([...one.bits()]).toEqual([2, 2]);
});

test('without bits nobody is known to be reached', () => {
  expect(isReached(undefined, 0)).toBe(false);
  expect(countReached(undefined)).toBe(0);
});
