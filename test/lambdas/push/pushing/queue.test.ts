import { Queue } from '../../../../lambdas/push/pushing/queue.ts';

function queueOf(...items: number[]): Queue<number> {
  const queue = new Queue<number>();
  for (const item of items) queue.add(item);
  return queue;
}

test('gives items in order, also those that are added meanwhile', () => {
  const queue = queueOf(1, 2, 3);
  expect([queue.take(), queue.take()]).toEqual([1, 2]);
  queue.add(4);
  expect(queue.length).toBe(2);
  expect([queue.take(), queue.take()]).toEqual([3, 4]);
  expect(queue.length).toBe(0);
});

test('shows the first items that have not been taken', () => {
  const queue = queueOf(1, 2, 3, 4);
  queue.take();
  expect(queue.first(2)).toEqual([2, 3]);
  expect(queue.first(9)).toEqual([2, 3, 4]);
  expect(queue.length).toBe(3);
});

test('is drained, and may be used again', () => {
  const queue = queueOf(1, 2, 3);
  queue.take();
  expect(queue.drain()).toEqual([2, 3]);
  expect(queue.length).toBe(0);
  queue.add(4);
  expect(queue.take()).toBe(4);
});
