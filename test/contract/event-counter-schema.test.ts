import { eventCounterSchema } from '../../contract/wire/event.ts';

test.each([
  [undefined, 0],
  ['0', 0],
  ['3', 3],
  ['9999', 9999],
])('the query tally=%s names event counter %i', (query, counter) => {
  expect(eventCounterSchema.parse(query)).toBe(counter);
});

test.each(['', '-1', '1.5', '1e3', ' 1', '10000', 'x', null])('tally=%j is invalid', (query) => {
  expect(eventCounterSchema.safeParse(query).success).toBe(false);
});
