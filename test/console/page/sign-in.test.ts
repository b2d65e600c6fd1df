import { keyIssue, projectIdIssue } from '../../../console/page/sign-in.tsx';

const key = `carillon_sk_${'a'.repeat(43)}`;

test.each(['carillon_sk_', 'carillon_mk_'])('a key of the kind %s has no issue', (prefix) => {
  expect(keyIssue(`${prefix}${'a'.repeat(43)}`)).toBeUndefined();
});

test('an id of the right format has no issue', () => {
  expect(projectIdIssue('shop-1')).toBeUndefined();
});

test.each([
  ['', 'Enter the key.'],
  [key.replace('_sk_', '_id_'), 'This is the identity key'],
  [
    'BPx3-an-application-server-key',
    'A key is “carillon_sk_” or “carillon_mk_”, and 43 characters.',
  ],
  [key.slice(0, -1), 'This text has 54: copy it again.'],
  [`${key}\n${key}`, 'This text has 111'],
  [`${key.slice(0, -1)}=`, 'copy it again'],
])('the issue of the key %j says "%s"', (entered, issue) => {
  expect(keyIssue(entered)).toContain(issue);
});

test.each([
  ['', 'Enter the id of the project'],
  ['Shop', 'lowercase letters'],
  ['-shop', 'not starting with a hyphen'],
])('the issue of the project id %j says "%s"', (entered, issue) => {
  expect(projectIdIssue(entered)).toContain(issue);
});
