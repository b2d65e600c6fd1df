import { readdirSync, readFileSync } from 'node:fs';

const folder = 'test/reliability';

/** The titles at the top level of a file, as rows of a table. */
function rowsOf(file: string): string[] {
  const source = readFileSync(`${folder}/${file}`, 'utf8');
  const titles = source.matchAll(/^(?:describe|test)\('(.+)', (?:async )?\(/gm);
  return [...titles].map(
    ([, title = '']) =>
      `| ${title.charAt(0).toUpperCase()}${title.slice(1)} | [${file}](../${folder}/${file}) |`,
  );
}

test('docs/reliability.md has the titles of the reliability tests', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'));
  const listed = readFileSync('docs/reliability.md', 'utf8').match(/^\| .*\.test\.ts\) \|$/gm)!;
  expect(listed.toSorted()).toEqual(files.flatMap(rowsOf).toSorted());
});
