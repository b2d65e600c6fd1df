import { Lease } from '../../../lambdas/deliver/lease.ts';
import type { SliceStore } from '../../../lambdas/store/slices.ts';
import { storedSlice } from '../../fixtures/stored-slice.ts';
import { slice, startMs } from './delivery-setup.ts';

const { signal } = new AbortController();

const chunk = { range: { from: 0, to: 1 }, recipients: [], readAt: startMs, unread: 0 };

function leaseWith(write: SliceStore['write'], clock = () => new Date(startMs)): Lease {
  const holder = { slice: slice(), by: 'mine', endsAt: startMs + 27_000 };
  return new Lease({ slices: { write }, clock }, holder);
}

test('a write that was given up changes nothing when its response arrives late', async () => {
  const responses: ((refused: undefined) => void)[] = [];
  const lease = leaseWith(() => new Promise((resolve) => responses.push(resolve)));
  const [givenUp, next] = [lease.claim(chunk, signal), lease.save(signal)];
  responses[1]!(undefined);
  expect(await next).toBe('mine');
  responses[0]!(undefined);
  await givenUp;
  // The claim is not known to be stored.
  expect(lease.stored).toMatchObject({ lease: { n: 2 }, position: 0 });
  expect(lease.next).toMatchObject({ from: 0 });
});

test('a write that fails does not prevent the next one, which builds on the last that is stored', async () => {
  const known: (number | undefined)[] = [];
  const lease = leaseWith(async (_, { event }) => {
    known.push(event.known?.n);
    if (event.id.n === 2) throw new Error('throttled');
    return undefined;
  });
  await lease.save(signal);
  await expect(lease.save(signal)).rejects.toThrow('throttled');
  expect(await lease.save(signal)).toBe('mine');
  expect(known).toEqual([undefined, 1, 1]);
});

test("a slice is known to be this invocation's from the start of a write that succeeds", async () => {
  let now = startMs;
  const lease = leaseWith(
    async () => {
      now += 3000;
      return undefined;
    },
    () => new Date(now),
  );
  expect(lease.knownAt).toBe(0);
  await lease.save(signal);
  expect(lease.knownAt).toBe(startMs);
});

test('after a stop only counts and the end are stored, and pushes are not extended', async () => {
  let now = startMs;
  const stoppedAt = startMs + 500;
  const known: boolean[] = [];
  const lease = leaseWith(
    async (_, { event }) => {
      known.push(event.knowsStop);
      if (event.id.n === 1 || event.knowsStop) return undefined;
      const lease = { by: 'mine', n: 1, until: startMs + 27_000 };
      return { refusal: 'stopped', slice: storedSlice({ stoppedAt, lease }) };
    },
    () => new Date(now),
  );
  await lease.save(signal);
  now = startMs + 1000;
  expect(await lease.save(signal)).toBe('stopped');
  expect(await lease.claim(chunk, signal)).toBe('stopped');
  expect(lease.knownAt).toBe(startMs);
  expect(lease.next).toMatchObject({ from: 0 });
  // The claim was not tried.
  expect(known).toEqual([false, false]);
  expect(await lease.leave(new Map(), false, signal)).toBe('stopped');
  expect(known).toEqual([false, false, true]);
  expect(lease.stored).toMatchObject({ ended: 'delivered', stoppedAt });
});

test("a slice that is another invocation's is lost, and described as that has left it", async () => {
  const other = storedSlice({ lease: { by: 'other', n: 4, until: startMs } });
  let writes = 0;
  const lease = leaseWith(async () => {
    writes += 1;
    return { refusal: 'lost', slice: other };
  });
  expect(await lease.save(signal)).toBe('lost');
  expect(lease.stored).toEqual(other);
  expect(await lease.leave(new Map(), true, signal)).toBe('lost');
  expect(writes).toBe(1);
});
