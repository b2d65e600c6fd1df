import { keyIssue, projectIdIssue } from '../../../console/page/views/access-issues.ts';

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
  ['BPx3-an-application-server-key', 'This is another text'],
  [key.slice(0, -1), 'has 43 characters after “carillon_sk_”, this one 42'],
  [`${key}\n${key}`, 'this one 99'],
  [`${key.slice(0, -1)}=`, 'a character that no key has'],
])('the issue of the key %j says "%s"', (entered, issue) => {
  expect(keyIssue(entered)).toContain(issue);
});

test.each([
  ['', 'Enter the project id'],
  ['Shop', 'lowercase letters'],
  ['-shop', 'not starting with a hyphen'],
])('the issue of the project id %j says "%s"', (entered, issue) => {
  expect(projectIdIssue(entered)).toContain(issue);
});
