import { readFileSync } from 'node:fs';
import { withPromises } from '../../bin/promises/with-promises.ts';

test('docs/reliability.md has the titles of the reliability tests: npm run promises writes them', () => {
  const page = readFileSync('docs/reliability.md', 'utf8');
  expect(page).toBe(withPromises(page));
});
