import { nearestName } from '../../contract/wire/fields.ts';

const names = ['stage', 'subscriberCap', 'monthlySendCap'];

test.each([
  ['subscribercap', 'subscriberCap'],
  ['subscibrCap', 'subscriberCap'],
  ['subscribersCap', 'subscriberCap'],
  ['STAGE', 'stage'],
  ['monthlyCap', 'monthlySendCap'],
  ['satge', 'stage'],
])('the nearest name to %s is %s', (typed, name) => {
  expect(nearestName(typed, names)).toBe(name);
});

test.each(['colour', '', 'cap', 'sta'])('%p has no near name', (typed) => {
  expect(nearestName(typed, names)).toBeUndefined();
});

test('an empty list has no near name', () => {
  expect(nearestName('stage', [])).toBeUndefined();
});
