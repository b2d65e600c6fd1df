import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { bundledPackages, licencesPage } from '../bin/generate.ts';
import { sharedAssembly } from './fixtures/assembly.ts';
import { temporaryFolder } from './fixtures/folder.ts';

type Versions = Readonly<Record<string, string>>;

interface Manifest {
  readonly workspaces?: readonly string[];
  readonly dependencies?: Versions;
  readonly devDependencies?: Versions;
  readonly optionalDependencies?: Versions;
}

interface LockedPackage {
  readonly integrity?: string;
  /** A workspace, in `node_modules`. */
  readonly link?: boolean;
  /** Contained in another package, whose hash covers it. */
  readonly inBundle?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const manifest = read('package.json') as Manifest;
const workspaces = manifest.workspaces!.map(
  (folder) => [folder, read(`${folder}/package.json`) as Manifest] as const,
);
const locked = read('package-lock.json').packages as Readonly<Record<string, LockedPackage>>;
const packages = bundledPackages(sharedAssembly);

/** Permissive licences, and MPL-2.0, which only asks for the sources of its own files. */
const accepted = ['0BSD', 'Apache-2.0', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0', 'MPL-2.0'];

test('packages have exact versions, the same in each manifest', () => {
  const versions = new Map<string, string>();
  for (const one of [manifest, ...workspaces.map(([, ofFolder]) => ofFolder)]) {
    const all = { ...one.dependencies, ...one.devDependencies, ...one.optionalDependencies };
    for (const [name, version] of Object.entries(all)) {
      expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
      expect([name, version]).toEqual([name, versions.get(name) ?? version]);
      versions.set(name, version);
    }
  }
});

test('the lockfile has a hash of every package', () => {
  const fetched = Object.entries(locked).filter(
    ([folder, one]) => folder.startsWith('node_modules/') && !one.inBundle && !one.link,
  );
  expect(fetched.length).toBeGreaterThan(100);
  const unhashed = fetched.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'));
  // Some optional binaries of development tools for other platforms have no hash in the lockfile.
  expect(unhashed.filter(([, { dev, optional }]) => !(dev && optional))).toEqual([]);
});

test('install scripts of packages do not run', () => {
  expect(readFileSync('.npmrc', 'utf8').split('\n')).toContain('ignore-scripts=true');
});

const workflows = ['ci', 'release'].map((name) => `.github/workflows/${name}.yml`);

describe.each([...workflows, 'examples/pipeline/deploy.yml'])('the workflow %s', (file) => {
  const workflow = readFileSync(file, 'utf8');

  test('runs actions by their commits, with the version as comment', () => {
    // Those of the repository itself are of the same commit.
    const actions = workflow.match(/uses: (?!\.\/).+/g)!;
    expect(actions.filter((one) => !/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(one))).toEqual([]);
  });

  test('leaves no token in the repository that it checks out', () => {
    const steps = workflow.split(/^ {6}- /m).filter((step) => step.includes('actions/checkout@'));
    expect(steps.filter((step) => !step.includes('persist-credentials: false'))).toEqual([]);
  });
});

test.each(workflows)('%s has a token that can write only where no code of it runs', (file) => {
  const [head, ...jobs] = readFileSync(file, 'utf8').split(/^ {2}(?=\w+:\n {4})/m);
  expect(head).not.toContain('write');
  const writing = jobs.filter((job) => job.includes(': write'));
  const runs = (job: string) =>
    /npm (?!publish .* --ignore-scripts)|checkout|\.ci/.test(job.replaceAll(/#.*/g, ''));
  expect(writing.filter(runs)).toEqual([]);
});

test('npm gets the packages only with the switch on, and with provenance', () => {
  const workflow = readFileSync('.github/workflows/release.yml', 'utf8');
  const npm = workflow.split(/^ {2}(?=\w+:\n)/m).at(-1)!;
  expect(npm).toMatch(
    /needs: publish\n {4}if: vars\.PUBLISH_TO_NPM == 'true'\n {4}environment: release\n/,
  );
  expect(npm).toMatch(/npm publish "\$file" --provenance/);
});

test('a release is of a commit on main that passed the gate, and somebody approves it', () => {
  const [, jobs] = readFileSync('.github/workflows/release.yml', 'utf8').split('\njobs:\n');
  const [, gate, build, publish] = jobs!.split(/^ {2}(?=\w+:\n)/m);
  expect(gate).toContain('uses: ./.github/workflows/ci.yml');
  const steps = build!.split(/^ {6}- /m);
  const at = (text: string) => steps.findIndex((step) => step.includes(text));
  const ofMain = at('git merge-base --is-ancestor "$GITHUB_SHA" origin/main');
  expect([at('fetch-depth: 0'), ofMain, ofMain < at('npm ci')]).toEqual([1, 2, true]);
  expect(build).toContain('package-manager-cache: false');
  expect(build).not.toMatch(/ cache:|actions\/cache/);
  expect(publish).toMatch(/needs: \[gate, build\]\n(?: +#.*\n)? +environment: release\n/);
});

test('the container of CI, which is a tag, has no secrets and makes nothing that is released', () => {
  const workflow = (name: string) => readFileSync(`.github/workflows/${name}.yml`, 'utf8');
  expect(workflow('ci')).not.toMatch(/secrets\.|: write|upload-artifact/);
  expect(workflow('release')).not.toContain('container:');
});

test('bundles contain packages of dependencies, and none of devDependencies', () => {
  expect(packages.length).toBeGreaterThan(10);
  expect(packages.filter(({ dev }) => dev)).toEqual([]);
});

/** Those of the packages that the sources in these folders import. */
function usedIn(folders: readonly string[], { dependencies = {} }: Manifest): readonly string[] {
  const files = execFileSync('git', ['ls-files', ...folders], { encoding: 'utf8' }).split('\n');
  const sources = files.filter((file) => /\.tsx?$/.test(file)).map((file) => readFileSync(file));
  return Object.keys(dependencies).filter((name) =>
    sources.some((text) => text.includes(`'${name}`)),
  );
}

test.each<[folders: readonly string[], manifest: Manifest]>([
  [['admin', 'contract', 'lambdas'], manifest],
  ...workspaces.map(([folder, one]): [string[], Manifest] => [[folder], one]),
])('every dependency of %j is used there', (folders, one) => {
  expect(usedIn(folders, one)).toEqual(Object.keys(one.dependencies ?? {}));
});

test('bundles contain no package that only the command uses', () => {
  const bundled = packages.map(({ name }) => name);
  const ofFunctions = usedIn(['console/page', 'contract', 'lambdas'], manifest);
  const others = Object.keys(manifest.dependencies!).filter((name) => !ofFunctions.includes(name));
  expect(others).toContain('web-push');
  expect(others.filter((name) => bundled.includes(name))).toEqual([]);
});

test('every bundled package has an accepted licence', () => {
  expect(packages.filter(({ license }) => !accepted.includes(license ?? ''))).toEqual([]);
});

test('docs/licences.md lists the bundled packages: npm run licences writes it', () => {
  expect(readFileSync('docs/licences.md', 'utf8')).toBe(licencesPage(packages));
});

test('a nested package is listed by its name, separately from another version of it', () => {
  const folder = temporaryFolder();
  const sources = [
    '../../lambdas/send/send.ts',
    '../../node_modules/ms/index.js',
    '../../node_modules/@a/b/node_modules/ms/index.js',
    '../../node_modules/@a/b/node_modules/@c/d/index.js',
  ];
  folder.write('asset.1/index.js.map', JSON.stringify({ sources }));
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
    { name: '@c/d', version: '3.0.0', license: 'ISC' },
    { name: 'ms', version: '1.0.0', dev: true },
    { name: 'ms', version: '2.0.0', license: 'MIT' },
  ]);
  folder.remove();
});
