import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
  ...['.', 'docs', 'docs/decisions', 'lambdas/push/transport'],
  ...['aws-emulator', 'bench', 'console', 'sdk'],
  ...examples,
].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    // It names files of earlier versions.
    .filter((name) => name !== 'CHANGELOG.md')
    .map((name) => join(folder, name)),
);

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

test('the pattern matches paths but not placeholders', () => {
  expect(repositoryPath.test('lambdas/send/send.ts')).toBe(true);
  expect(repositoryPath.test('lambdas/<endpoint>')).toBe(false);
});
