import { nearestName } from '../../contract/nearest-name.ts';

const names = ['stage', 'subscriberCap', 'monthlySendCap'];

test.each([
  ['subscribercap', 'subscriberCap'],
  ['subscibrCap', 'subscriberCap'],
  ['subscribersCap', 'subscriberCap'],
  ['STAGE', 'stage'],
  ['monthlyCap', 'monthlySendCap'],
])('%s is near %s', (typed, name) => {
  expect(nearestName(typed, names)).toBe(name);
});

test.each(['colour', '', 'cap', 'sta'])('%p is near nothing', (typed) => {
  expect(nearestName(typed, names)).toBeUndefined();
});

test('nothing is near where there are no names', () => {
  expect(nearestName('stage', [])).toBeUndefined();
});
