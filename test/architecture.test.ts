import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { preProcessFile } from 'typescript';

/**
 * Who may import whom. The first rule whose `files` begin a source's path is the one it keeps.
 * Each of its own folder's files is open to it, and besides these what `may` lists: beginnings of
 * paths in this repository, packages by name or by scope, `packages` for all of them.
 */
interface Rule {
  readonly files: string;
  readonly may: readonly string[];
}

const contract = 'lambdas/contract/';
const store = 'lambdas/store/';
const chain = ['@middy/', '@aws-lambda-powertools/', 'aws-lambda', 'node:'];
const everything = ['bench/', 'bin/', 'lambdas/', 'lib/', 'local/', 'sdk/', 'test/', 'packages'];

const rules: readonly Rule[] = [
  { files: 'lambdas/contract/', may: ['zod'] },
  { files: 'lambdas/http/', may: [contract, ...chain, 'zod'] },
  { files: 'lambdas/push/', may: [contract, 'web-push', 'node:'] },
  { files: 'lambdas/store/', may: [contract, '@aws-sdk/', 'node:'] },
  {
    files: 'lambdas/',
    may: [contract, 'lambdas/http/', 'lambdas/push/', 'lambdas/store/', ...chain],
  },
  {
    files: 'lib/',
    may: [contract, 'lambdas/store/items.ts', 'aws-cdk-lib', 'constructs', 'zod', 'node:'],
  },
  { files: 'bin/', may: ['lib/', contract, store, 'packages'] },
  { files: 'local/playground/', may: [contract, store, 'sdk/', 'packages'] },
  { files: 'local/', may: [contract, store, 'bin/terminal/', 'bin/projects/card.ts', 'packages'] },
  { files: 'sdk/build/', may: ['packages'] },
  { files: 'sdk/', may: [contract] },
  { files: 'bench/', may: everything },
  { files: 'test/', may: everything },
];

/** The imports of a source that its rule does not know, as `file imports target`. */
function forbiddenImports(file: string, source: string): string[] {
  const rule = rules.find(({ files }) => file.startsWith(files));
  if (rule === undefined) return [`${file} is in no folder that a rule knows`];
  return preProcessFile(source, true, true)
    .importedFiles.map(({ fileName }) => fileName)
    .filter((specifier) => !isAllowed(specifier, file, rule))
    .map((specifier) => `${file} imports ${specifier}`);
}

function isAllowed(specifier: string, file: string, { may }: Rule): boolean {
  if (!specifier.startsWith('.')) {
    return may.includes('packages') || may.some((allowed) => isPackageOf(allowed, specifier));
  }
  const target = posix.join(posix.dirname(file), specifier);
  return target.startsWith(ownFolder(file)) || may.some((allowed) => target.startsWith(allowed));
}

function isPackageOf(allowed: string, specifier: string): boolean {
  const isFamily = allowed.endsWith('/') || allowed.endsWith(':');
  return specifier === allowed || specifier.startsWith(isFamily ? allowed : `${allowed}/`);
}

/** What a file belongs to: its part under lambdas/, elsewhere its folder at the top. */
function ownFolder(file: string): string {
  const depth = file.startsWith('lambdas/') ? 2 : 1;
  return `${file.split('/').slice(0, depth).join('/')}/`;
}

const folders = readdirSync('.', { withFileTypes: true }).filter(
  (entry) => entry.isDirectory() && !/^\.|^(node_modules|cdk\.out|coverage)$/.test(entry.name),
);
const sources = folders.flatMap(({ name }) =>
  readdirSync(name, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.[cm]?tsx?$/.test(path) && !path.includes('node_modules'))
    .map((path) => join(name, path).replaceAll('\\', '/')),
);

test('no source imports what it must not', () => {
  expect(sources).toEqual(expect.arrayContaining(['bin/carillon.ts', 'lambdas/send/handler.ts']));
  const found = sources.flatMap((file) => forbiddenImports(file, readFileSync(file, 'utf8')));
  expect(found).toEqual([]);
});

test.each([
  ['an endpoint imports another', 'lambdas/send/send.ts', '../track/track.ts'],
  ['an endpoint imports the stack', 'lambdas/send/send.ts', '../../lib/settings.ts'],
  ['an endpoint imports the local stack', 'lambdas/send/send.ts', '../../local/template.ts'],
  ['an endpoint imports the operator’s command', 'lambdas/send/send.ts', '../../bin/projects.ts'],
  ['an endpoint imports the SDK', 'lambdas/send/send.ts', '../../sdk/client.ts'],
  ['push imports HTTP', 'lambdas/push/vapid.ts', '../http/reply.ts'],
  ['push imports a store', 'lambdas/push/vapid.ts', '../store/items.ts'],
  ['push logs', 'lambdas/push/vapid.ts', '@aws-lambda-powertools/logger'],
  ['a store imports push', 'lambdas/store/projects.ts', '../push/vapid.ts'],
  ['HTTP imports a store', 'lambdas/http/rate-limit.ts', '../store/rate-limits.ts'],
  ['HTTP speaks to AWS', 'lambdas/http/rate-limit.ts', '@aws-sdk/client-dynamodb'],
  ['the contract imports Node', 'lambdas/contract/limits.ts', 'node:crypto'],
  ['the contract imports a package', 'lambdas/contract/limits.ts', 'zod-to-json-schema'],
  ['the contract imports a store', 'lambdas/contract/limits.ts', '../store/items.ts'],
  ['the stack imports a handler', 'lib/carillon-stack.ts', '../lambdas/send/handler.ts'],
  ['the stack imports a store', 'lib/carillon-stack.ts', '../lambdas/store/projects.ts'],
  ['the local stack imports the stack', 'local/routes.ts', '../lib/http-api.ts'],
  ['the local stack imports a use case', 'local/routes.ts', '../lambdas/send/send.ts'],
  ['the SDK imports a package', 'sdk/client/init.ts', 'zod'],
  ['the SDK imports Node', 'sdk/worker/message.ts', 'node:crypto'],
])('would notice that %s', (_, file, specifier) => {
  expect(forbiddenImports(file, `import { x } from '${specifier}';`)).toEqual([
    `${file} imports ${specifier}`,
  ]);
});

test.each([
  `import '../track/track.ts';`,
  `import type { Track } from '../track/track.ts';`,
  `export * from '../track/track.ts';`,
  `const track = await import('../track/track.ts');`,
  `const track = require('../track/track.ts');`,
])('would notice %p', (source) => {
  expect(forbiddenImports('lambdas/send/send.ts', source)).toHaveLength(1);
});

test('would notice a folder that no rule knows', () => {
  expect(forbiddenImports('scripts/release.ts', '')).toHaveLength(1);
});

test('lets a source import its own folder, the contract and the packages of its work', () => {
  const source = `
    import middy from '@middy/core';
    import { randomUUID } from 'node:crypto';
    import { routes } from '../contract/routes.ts';
    import { send } from './send.ts';
  `;
  expect(forbiddenImports('lambdas/send/handler.ts', source)).toEqual([]);
});
