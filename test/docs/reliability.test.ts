import { readdirSync, readFileSync } from 'node:fs';
import { withPromises } from '../../bin/generate.ts';

const reliability = readFileSync('docs/reliability.md', 'utf8');

test('docs/reliability.md has the titles of the reliability tests: npm run api-docs writes it', () => {
  expect(reliability).toBe(withPromises(reliability));
});

test('docs/reliability.md lists each file with a title', () => {
  const files = readdirSync('test/reliability').filter((name) => name.endsWith('.test.ts'));
  const titled = files.filter((name) =>
    /^(?:describe|test)\('/m.test(readFileSync(`test/reliability/${name}`, 'utf8')),
  );
  expect(titled.length).toBeGreaterThan(10);
  expect(titled.filter((name) => !reliability.includes(`test/reliability/${name})`))).toEqual([]);
});
