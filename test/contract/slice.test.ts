import { readFileSync } from 'node:fs';
import { sliceSizes } from '../../contract/infrastructure/delivery.ts';
import { type Slice, sliceSchema } from '../../contract/infrastructure/slice.ts';

const slice: Slice = JSON.parse(readFileSync('releases/slices.json', 'utf8')).synchronousBroadcast;

const isAccepted = (changes: object) => sliceSchema.safeParse({ ...slice, ...changes }).success;

// Deliver opens an item and makes a message for each.
test('a slice has no more event counters than send gives it', () => {
  const { counters } = sliceSizes;
  expect(isAccepted({ counters })).toBe(true);
  for (const invalid of [0, 1.5, counters + 1, 1e9]) {
    expect(isAccepted({ counters: invalid })).toBe(false);
  }
});

// It may narrow the audience.
test.each([
  ['member', { onlyTo: 'ada' }],
  ['condition', { conditions: { ...slice.conditions, country: 'de' } }],
])('a slice with a %s that this version does not know is refused', (_, changes) => {
  expect(isAccepted({})).toBe(true);
  expect(isAccepted(changes)).toBe(false);
});
