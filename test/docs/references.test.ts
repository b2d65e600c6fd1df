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

const examples = readdirSync('examples', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => join('examples', name));

const documents = [
  ...['.', 'docs', 'docs/decisions', 'docs/migrate', 'lambdas/push/transport'],
  ...['aws-emulator', 'bench', 'console', 'sdk'],
  ...examples,
].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);
documents.push('llms.txt');

test.each(documents)('%s refers to files that exist', (document) => {
  const text = readFileSync(document, 'utf8');
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target]) =>
    join(dirname(document), target!),
  );
  const paths = [...text.matchAll(/`([^`\n]+)`/g)]
    .map(([, span]) => span!)
    .filter((span) => repositoryPath.test(span) && !generated.test(span));
  expect([...links, ...paths].filter((path) => !existsSync(path))).toEqual([]);
});

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
