import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const folders = readdirSync('.', { withFileTypes: true }).filter((entry) => entry.isDirectory());
/** A path in the repository, without placeholders. */
const repositoryPath = new RegExp(
  `^(?:${folders.map(({ name }) => name.replaceAll('.', '\\.')).join('|')})/[\\w./-]*$`,
);
/** Paths that a command creates. */
const generated = /^(?:\.carillon|cdk\.out|node_modules|sdk\/dist)\//;

const documents = execFileSync('git', ['ls-files', '*.md', 'llms.txt'], { encoding: 'utf8' })
  .trim()
  .split('\n');

test.each(documents)('%s refers to files and sections that exist', (document) => {
  const text = readFileSync(document, 'utf8');
  const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)/g)].map(
    ([, path = '', anchor = '']) => ({
      path: path === '' ? document : join(dirname(document), path),
      anchor,
    }),
  );
  const paths = [...text.matchAll(/`([^`\n]+)`/g)]
    .map(([, span]) => span!)
    .filter((span) => repositoryPath.test(span) && !generated.test(span));
  const files = [...links.map(({ path }) => path), ...paths];
  expect(files.filter((path) => !existsSync(path))).toEqual([]);
  const sections = links.filter(({ anchor }) => anchor !== '');
  expect(sections.filter(({ path, anchor }) => !anchorsOf(path).includes(anchor))).toEqual([]);
});

const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .trim()
  .split('\n');
const sources = tracked.filter((path) => /\.(tsx?|mjs|js)$/.test(path) && existsSync(path));
const comment = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm;
/** A file or a folder: from the root, or the end of its path. */
const named = /`(?:\.{1,2}\/)*([\w./-]+\.(?:tsx?|mjs|md)|[a-z-]+\/[\w/-]*\/)`/g;

test('comments name files that exist', () => {
  const missing = sources.flatMap((path) => {
    const comments = readFileSync(path, 'utf8').match(comment) ?? [];
    const names = [...comments.join('\n').matchAll(named)].map(([, name]) => name!);
    return names
      .filter((name) => !generated.test(name) && !exists(name))
      .map((name) => ({ path, name }));
  });
  expect(missing).toEqual([]);
});

function exists(name: string): boolean {
  return name.endsWith('/')
    ? existsSync(name)
    : tracked.some((path) => `/${path}`.endsWith(`/${name}`));
}

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(document: string): readonly string[] {
  const text = readFileSync(document, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test.each(documents.filter((name) => name.startsWith('docs/migrate/')))(
  '%s is a page of at most 40 lines',
  (document) => {
    expect(readFileSync(document, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(40);
  },
);

test.each([
  ['docs/sdk.md', 'carillon'],
  ['docs/deploy.md', 'carillon-aws'],
])('the npm install of %s takes the tarball of %s only', (document, name) => {
  const folder = mkdtempSync(join(tmpdir(), 'tarballs-'));
  const versions = ['1.1.0', '1.1.0-dev.0a1b2c3'];
  for (const version of versions) {
    for (const each of ['carillon', 'carillon-aws']) {
      writeFileSync(join(folder, `${each}-${version}.tgz`), '');
    }
  }
  const [, pattern] = /npm install (\.\/\S+)/.exec(readFileSync(document, 'utf8'))!;
  const taken = execFileSync('bash', ['-c', `printf '%s\n' ${pattern}`], { cwd: folder });
  rmSync(folder, { recursive: true });
  const tarballs = versions.map((version) => `./${name}-${version}.tgz`);
  expect(String(taken).trim().split('\n').toSorted()).toEqual(tarballs.toSorted());
});

test('the pattern matches paths but not placeholders', () => {
  expect(repositoryPath.test('lambdas/send/send.ts')).toBe(true);
  expect(repositoryPath.test('lambdas/<endpoint>')).toBe(false);
});
