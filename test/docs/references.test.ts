import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const folders = readdirSync('.', { withFileTypes: true }).filter((entry) => entry.isDirectory());
/** Matches a path of the repository: one of its folders, then names without placeholders. */
const repositoryPath = new RegExp(
  `^(?:${folders.map(({ name }) => name.replaceAll('.', '\\.')).join('|')})/[\\w./-]*$`,
);
/** Paths that are made by a command, and not part of the repository. */
const generated = /^(?:\.carillon|cdk\.out|node_modules|sdk\/dist)\//;

const documents = ['.', 'docs', 'docs/decisions', 'lambdas/push/transport'].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    // The changelog names the files of earlier versions.
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

test('the check finds paths in documents', () => {
  expect(repositoryPath.test('lambdas/send/send.ts')).toBe(true);
  expect(repositoryPath.test('lambdas/<endpoint>')).toBe(false);
});
