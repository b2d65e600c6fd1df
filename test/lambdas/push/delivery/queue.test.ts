import { Queue } from '../../../../lambdas/push/delivery/queue.ts';

function queue() {
  const prepared: number[] = [];
  return { queue: new Queue<number>((item) => prepared.push(item)), prepared };
}

const upTo = (end: number) => Array.from({ length: end }, (_, index) => index);

test('gives items in order, also those that are added meanwhile', () => {
  const { queue: items } = queue();
  for (const item of [1, 2, 3]) items.add(item);
  expect([items.take(), items.take()]).toEqual([1, 2]);
  items.add(4);
  expect(items.length).toBe(2);
  expect([items.take(), items.take()]).toEqual([3, 4]);
  expect(items.length).toBe(0);
});

test('prepares 32 items in a row, each once and before it is taken', () => {
  const { queue: items, prepared } = queue();
  for (const item of upTo(50)) items.add(item);
  expect(prepared).toEqual([]);
  for (const item of upTo(32)) {
    expect(items.take()).toBe(item);
    expect(prepared).toEqual(upTo(32));
  }
  items.take();
  expect(prepared).toEqual(upTo(50));
  items.add(50);
  for (let taken = 0; taken < 18; taken += 1) items.take();
  expect(prepared).toEqual(upTo(51));
});

test('is drained without preparing the rest, and may be used again', () => {
  const { queue: items, prepared } = queue();
  for (const item of upTo(40)) items.add(item);
  items.take();
  expect(items.drain()).toEqual(upTo(40).slice(1));
  expect(prepared).toEqual(upTo(32));
  expect(items.length).toBe(0);
  items.add(99);
  expect(items.take()).toBe(99);
  expect(prepared.at(-1)).toBe(99);
});
