import { projectIdIssue, secretKeyIssue } from '../../../console/page/views/access-issues.ts';

const key = `carillon_sk_${'a'.repeat(43)}`;

test('a key and an id of the right format have no issue', () => {
  expect(secretKeyIssue(key)).toBeUndefined();
  expect(projectIdIssue('shop-1')).toBeUndefined();
});

test.each([
  ['', 'Enter the secret key from the API key card.'],
  [key.replace('_sk_', '_id_'), 'This is the identity key'],
  ['BPx3-an-application-server-key', 'This is another text'],
  [key.slice(0, -1), 'has 43 characters after “carillon_sk_”, this one 42'],
  [`${key}\n${key}`, 'this one 99'],
  [`${key.slice(0, -1)}=`, 'a character that no key has'],
])('the issue of the key %j says "%s"', (entered, issue) => {
  expect(secretKeyIssue(entered)).toContain(issue);
});

test.each([
  ['', 'Enter the project id'],
  ['Shop', 'lowercase letters'],
  ['-shop', 'not starting with a hyphen'],
])('the issue of the project id %j says "%s"', (entered, issue) => {
  expect(projectIdIssue(entered)).toContain(issue);
});
