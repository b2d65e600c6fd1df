/** The tests of some changed files. */
export interface ChangedTests {
  /** Folders and files of `npm test`, sorted. */
  readonly paths: readonly string[];
  /** Commands for changed tests of the suites that run apart. */
  readonly apart: readonly string[];
  /** Files for which no folder of tests exists. */
  readonly untested: readonly string[];
}

/**
 * Finds the tests by place: those in the folder that mirrors the folder of a file, or the nearest one above it. Tests of
 * what imports the file are left to the whole check.
 * @param files changed or removed ones, relative to the root.
 * @param exists whether there is such a file or folder.
 */
export function changedTests(
  files: readonly string[],
  exists: (path: string) => boolean,
): ChangedTests {
  const paths = new Set<string>();
  const apart = new Set<string>();
  const untested: string[] = [];
  for (const file of files) {
    const [, suite] = /^test\/(browser|deploy|reliability|runtime)\//.exec(file) ?? [];
    const folder = folderOf(file, exists);
    if (suite !== undefined) {
      const isTest = file.endsWith('.test.ts');
      apart.add(`npm run test:${suite}${isTest ? ` -- ${file}` : ''}`);
    } else if (/^test\/.*\.test\.ts$/.test(file) && exists(file)) paths.add(file);
    else if (folder === undefined) untested.push(file);
    else paths.add(`${folder}/`);
  }
  return { paths: [...paths].sort(), apart: [...apart].sort(), untested };
}

function folderOf(file: string, exists: (path: string) => boolean): string | undefined {
  if (file.endsWith('.md')) return 'test/docs';
  const folders = file
    .replace(/^test\//, '')
    .split('/')
    .slice(0, -1);
  for (let depth = folders.length; depth > 0; depth -= 1) {
    const folder = ['test', ...folders.slice(0, depth)].join('/');
    if (exists(folder)) return folder;
  }
  return undefined;
}
