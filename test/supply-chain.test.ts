import { readFileSync } from 'node:fs';
import { bundledPackages } from '../bin/licences/bundled-packages.ts';
import { licencesPage } from '../bin/licences/licences-page.ts';
import { sharedAssembly } from './fixtures/assembly.ts';
import { temporaryFolder } from './fixtures/folder.ts';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

interface LockedPackage {
  readonly integrity?: string;
  /** Part of the package around it, under the hash of that. */
  readonly inBundle?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const manifest = read('package.json') as Manifest;
const locked = read('package-lock.json').packages as Readonly<Record<string, LockedPackage>>;
const packages = bundledPackages(sharedAssembly());

/** Licences that ask for no more than to be named, and one that asks for its own files' sources. */
const accepted = ['Apache-2.0', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0', 'MPL-2.0'];

test.each(['dependencies', 'devDependencies', 'optionalDependencies'] as const)(
  'every one of the %s is of an exact version',
  (kind) => {
    for (const version of Object.values(manifest[kind])) {
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    }
  },
);

test('the lockfile holds a hash of every package', () => {
  const fetched = Object.entries(locked).filter(([folder, one]) => folder !== '' && !one.inBundle);
  expect(fetched.length).toBeGreaterThan(100);
  const unhashed = fetched.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'));
  // Save some tools' binaries for other platforms, which no registry at hand had when it was made.
  expect(unhashed.filter(([, { dev, optional }]) => !(dev && optional))).toEqual([]);
});

test('no package’s scripts run when it is installed', () => {
  expect(readFileSync('.npmrc', 'utf8').split('\n')).toContain('ignore-scripts=true');
});

test('what is bundled comes from the dependencies, and nothing of it from the tools', () => {
  expect(packages.length).toBeGreaterThan(10);
  expect(packages.filter(({ dev }) => dev)).toEqual([]);
});

test('every package that is depended on is bundled', () => {
  const names = packages.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)));
});

test('what is bundled is under a licence that allows it', () => {
  expect(packages.filter(({ licence }) => !accepted.includes(licence ?? ''))).toEqual([]);
});

test('the licences of what is bundled are listed: npm run licences writes them', () => {
  expect(readFileSync('docs/licences.md', 'utf8')).toBe(licencesPage(packages));
});

test('a package that lies within another is told by its own name, and from its namesake', () => {
  const folder = temporaryFolder();
  const sources = [
    '../../lambdas/send/send.ts',
    '../../node_modules/ms/index.js',
    '../../node_modules/@a/b/node_modules/ms/index.js',
    '../../node_modules/@a/b/node_modules/@c/d/index.js',
  ];
  folder.write('asset.1/index.mjs.map', JSON.stringify({ sources }));
  const lockfile = folder.write(
    'package-lock.json',
    JSON.stringify({
      packages: {
        'node_modules/ms': { version: '2.0.0', license: 'MIT' },
        'node_modules/@a/b/node_modules/ms': { version: '1.0.0', dev: true },
        'node_modules/@a/b/node_modules/@c/d': { version: '3.0.0', license: 'ISC' },
      },
    }),
  );
  expect(bundledPackages(folder.path, lockfile)).toEqual([
    { name: '@c/d', version: '3.0.0', licence: 'ISC', dev: false },
    { name: 'ms', version: '1.0.0', licence: undefined, dev: true },
    { name: 'ms', version: '2.0.0', licence: 'MIT', dev: false },
  ]);
  folder.remove();
});
