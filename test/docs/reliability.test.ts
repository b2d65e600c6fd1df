import { readdirSync, readFileSync } from 'node:fs';

/** Titles at the top level of the reliability tests, with their files. */
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

test('the promises of the document are the titles of the reliability tests', () => {
  const rows = readFileSync('docs/reliability.md', 'utf8').matchAll(
    /^\| (.+?) \| \[(.+?)\]\(\.\.\/test\/reliability\/\2\) \|$/gm,
  );
  const promised = [...rows].map(([, promise = '', name]) => {
    return `${promise.charAt(0).toLowerCase()}${promise.slice(1)} | ${name}`;
  });
  const kept = titles().map((title) => title.charAt(0).toLowerCase() + title.slice(1));
  expect(kept.length).toBeGreaterThan(20);
  expect(promised.sort()).toEqual(kept.sort());
});
