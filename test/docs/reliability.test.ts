import { readdirSync, readFileSync } from 'node:fs';

/** Top-level titles of the reliability tests, with their files. */
function titles(): string[] {
  const folder = 'test/reliability';
  return readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts'))
    .flatMap((name) => {
      const source = readFileSync(`${folder}/${name}`, 'utf8');
      const found = source.matchAll(/^(?:describe|test)\('(.+)', (?:async )?\(/gm);
      return [...found].map(([, title]) => `${title} | ${name}`);
    });
}

test('docs/reliability.md lists exactly the titles of the reliability tests', () => {
  const rows = readFileSync('docs/reliability.md', 'utf8').matchAll(
    /^\| (.+?) \| \[(.+?)\]\(\.\.\/test\/reliability\/\2\) \|$/gm,
  );
  const documented = [...rows].map(([, promise = '', name]) => {
    return `${promise.charAt(0).toLowerCase()}${promise.slice(1)} | ${name}`;
  });
  const tested = titles().map((title) => title.charAt(0).toLowerCase() + title.slice(1));
  expect(tested.length).toBeGreaterThan(20);
  expect(documented.sort()).toEqual(tested.sort());
});
