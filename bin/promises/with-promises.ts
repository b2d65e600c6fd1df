import { readdirSync, readFileSync } from 'node:fs';

const folder = 'test/reliability';
const suffix = '.test.ts';

/**
 * Writes the tables of docs/reliability.md again: the titles of the tests that each one names, between
 * `<!-- tests: NAME, … -->` and `<!-- end -->`.
 * @throws {Error} if a test with a promise is in no table.
 */
export function withPromises(markdown: string): string {
  const listed = new Set<string>();
  const page = markdown.replaceAll(
    /<!-- tests: (.+?) -->\n[\s\S]*?<!-- end -->/g,
    (_, list: string) => {
      const names = list.split(', ');
      for (const name of names) listed.add(name);
      const rows = names.flatMap((name) =>
        promisesOf(name).map(
          (promise) => `| ${promise} | [${name}${suffix}](../${folder}/${name}${suffix}) |`,
        ),
      );
      const table = ['| Promise | Test |', '|---|---|', ...rows].join('\n');
      return `<!-- tests: ${list} -->\n${table}\n<!-- end -->`;
    },
  );
  const missing = readdirSync(folder)
    .filter((file) => file.endsWith(suffix))
    .map((file) => file.slice(0, -suffix.length))
    .filter((name) => !listed.has(name) && promisesOf(name).length > 0);
  if (missing.length > 0) throw new Error(`No table has the tests of ${missing.join(', ')}.`);
  return page;
}

/** The titles at the top level of a test, as sentences. */
function promisesOf(name: string): string[] {
  const source = readFileSync(`${folder}/${name}${suffix}`, 'utf8');
  const titles = source.matchAll(/^(?:describe|test)\('(.+)', (?:async )?\(/gm);
  return [...titles].map(([, title = '']) => title.charAt(0).toUpperCase() + title.slice(1));
}
