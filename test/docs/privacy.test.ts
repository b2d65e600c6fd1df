import { readFileSync } from 'node:fs';
import { listedNames } from '../fixtures/listed-names.ts';
import { storedNames } from '../fixtures/stored-names.ts';

// test/service/secrets.test.ts compares the list with what is stored and logged at run time.
test('each attribute, log field and entry of the browser in the sources is listed in stored-data.ts, and no other', () => {
  const sorted = (names: ReadonlyMap<string, Iterable<string>>) =>
    Object.fromEntries([...names].map(([where, each]) => [where, [...each].sort()]));
  expect(sorted(listedNames())).toEqual(sorted(storedNames()));
});

test('docs/privacy.md has at most 1,500 words besides its table', () => {
  const text = readFileSync('docs/privacy.md', 'utf8').replace(
    /<!-- generated[\s\S]*?<!-- end -->/,
    '',
  );
  expect(text.split(/\s+/).length).toBeLessThanOrEqual(1500);
});
