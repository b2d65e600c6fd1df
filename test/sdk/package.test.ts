import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { entryPoints } from '../../sdk/build/bundle.ts';
import { codeIn } from '../fixtures/documented-example.ts';
import {
  builtPackage,
  type NpmProject,
  npmProject,
  programOf,
  runCommand,
} from '../fixtures/npm-project.ts';

let built: Awaited<ReturnType<typeof builtPackage>>;
let manifest: { version: string; exports: Record<string, unknown>; dependencies?: object };
let project: NpmProject;

beforeAll(async () => {
  built = await builtPackage();
  manifest = JSON.parse(readFileSync(join(built.folder, 'package.json'), 'utf8'));
  project = await npmProject(built.tarball);
}, 120_000);
afterAll(() => {
  project?.remove();
  built?.remove();
});

const node = (program: string, ...args: string[]) =>
  project.run(process.execPath, program, ...args);

describe('the npm package', () => {
  test('has the version of the repository, no dependency, and its licence', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(manifest).toMatchObject({ version, private: true, license: 'Apache-2.0' });
    expect(manifest.dependencies).toBeUndefined();
    const installed = (name: string) =>
      readFileSync(join(project.path, 'node_modules/carillon', name), 'utf8');
    for (const name of ['LICENSE', 'openapi.json']) {
      expect(installed(name)).toBe(readFileSync(name, 'utf8'));
    }
    for (const file of Object.keys(entryPoints))
      expect(installed(file)).toContain(`Carillon ${version}`);
  });

  test('publint finds nothing', async () => {
    const publint = programOf('publint/src/cli.js');
    const output = await node(publint, 'run', built.tarball, '--strict');
    expect(output).toContain('All good!');
  });

  test('TypeScript resolves each export to the types of what Node and bundlers load', async () => {
    // The profile leaves out `require` and the resolution before `exports`: it has ES modules only.
    const attw = programOf('@arethetypeswrong/cli/dist/index.js');
    const options = ['--profile', 'esm-only', '--no-definitely-typed', '--format', 'json'];
    // It exits with 1 if it finds a problem, except those that the profile leaves out.
    const { analysis } = JSON.parse(await node(attw, built.tarball, ...options));
    expect(Object.keys(analysis.entrypoints)).toEqual(Object.keys(manifest.exports));
  });

  test('its README names every export', () => {
    const readme = readFileSync(join(built.folder, 'README.md'), 'utf8');
    const names = Object.keys(manifest.exports).filter((subpath) => subpath !== './package.json');
    for (const subpath of names) expect(readme).toContain(`| \`carillon${subpath.slice(1)}\` |`);
  });
});

test.each([
  ...['client/options', 'client/client-types', 'bell/show-bell', 'bell/show-prompt'],
  ...['server/carillon-server', 'server/project-client'],
])('every optional member in %s accepts undefined', (name) => {
  const text = readFileSync(join(built.folder, `types/sdk/${name}.d.ts`), 'utf8');
  const optional = [...text.matchAll(/readonly \w+\?: [^;]+;/g)].map(String);
  expect(optional.filter((member) => !/\bundefined\b/.test(member))).toEqual([]);
});

describe('installed into a new project', () => {
  const tsc = programOf('typescript/bin/tsc');
  const strict = [
    ...['--strict', '--exactOptionalPropertyTypes', '--noUncheckedSideEffectImports'],
    ...['--noEmit', '--target', 'es2023', '--skipLibCheck', 'false'],
  ];

  const use = `
    const push = init({ baseUrl: '', projectId: '', applicationServerKey: '' });
    const carillon = new CarillonServer({ baseUrl: '', projectId: '', secretKey: '' });
    export async function use(error: CarillonError) {
      const { delivered } = await carillon.send({ title: 'Hello', userIds: ['ada'] });
      const { status } = await carillon.send({ title: 'Hello' }, { respondAsync: true });
      const { shown, failures } = await carillon.notification('an-id');
      const counts: number[] = [delivered, shown ?? 0, failures?.throttled ?? 0];
      const isSending: boolean = status === 'sending';
      const isDenied: boolean = error.code === 'permission_denied';
      return { counts, isSending, isDenied };
    }
    export const subscription: Promise<PushSubscription> = push.subscribe({ userId: 'ada' });
    export const classic: typeof push = window.Carillon.init({ baseUrl: '', projectId: '', applicationServerKey: '' });
    const names: readonly string[] = ['news'];
    push.setChannels(names);
    push.subscribe({ channels: names });
    carillon.send({ title: 'Hello', userIds: names, channels: names, actions: undefined, ttl: undefined });
    // @ts-expect-error
    push.subscribe({ user: 'ada' });
    // @ts-expect-error
    carillon.send({ title: 'Hello', userId: ['ada'] });
    // @ts-expect-error
    carillon.send({ body: 'Hello' });
    // @ts-expect-error
    carillon.send({ title: 'Hello' }, { respondAsync: true }).then(({ delivered }) => delivered);
  `;

  test.each([
    ['nodenext', 'nodenext'],
    ['bundler', 'esnext'],
  ])(
    'with moduleResolution %s, TypeScript knows every export and refuses mistyped calls',
    async (moduleResolution, module) => {
      const imports = Object.keys(manifest.exports).map((subpath, index) => {
        const attributes = subpath.endsWith('.json') ? ` with { type: 'json' }` : '';
        return `import * as export${index} from 'carillon${subpath.slice(1)}'${attributes};
              console.log(export${index});`;
      });
      const file = `use-${moduleResolution}.mts`;
      project.write(
        file,
        `${imports.join('\n')}
       import { type CarillonError, init } from 'carillon';
       import { CarillonServer } from 'carillon/server';
       ${use}`,
      );
      const options = ['--module', module, '--moduleResolution', moduleResolution];
      // An error is what tsc prints.
      expect(await node(tsc, ...strict, '--resolveJsonModule', ...options, file)).toBe('');
    },
    120_000,
  );

  test('`carillon/server` needs the types of Node only, and none of the browser', async () => {
    const file = project.write(
      'server.mts',
      `import { CarillonServer } from 'carillon/server';
       new CarillonServer({ baseUrl: '', projectId: '', secretKey: '' }).project();`,
    );
    const types = ['--typeRoots', programOf('@types'), '--types', 'node', '--lib', 'es2023'];
    expect(await node(tsc, ...strict, '--module', 'nodenext', ...types, file)).toBe('');
  }, 120_000);

  test('Node loads the modules without a window, as rendering on a server does', async () => {
    const modules = Object.entries(manifest.exports).filter(([, one]) =>
      /(?<!-sw)\.mjs"/.test(JSON.stringify(one)),
    );
    const imports = modules.map(([subpath]) => `import 'carillon${subpath.slice(1)}';`);
    project.write('load.mjs', `${imports.join('\n')}\nconsole.log('loaded');`);
    expect(await node('load.mjs')).toBe('loaded\n');
  });
});

describe('the documented ways to serve the service worker', () => {
  const document = 'docs/sdk.md';
  const worker = () => readFileSync(join(built.folder, 'carillon-sw.js'), 'utf8');

  test('Vite puts the copied file at the root of the site', async () => {
    const copy = codeIn(document, 'sh').find((code) => code.includes('carillon-sw.js public'))!;
    await project.run('sh', '-ec', copy);
    project.write('index.html', codeIn(document, 'html')[0]!);
    project.write('main.js', codeIn(document, 'js')[0]!);
    await node(programOf('vite/bin/vite.js'), 'build');
    const site = join(project.path, 'dist');
    expect(readFileSync(join(site, 'carillon-sw.js'), 'utf8')).toBe(worker());
    const [script] = readFileSync(join(site, 'index.html'), 'utf8').match(/\/assets\/[^"]+\.js/)!;
    expect(readFileSync(join(site, script), 'utf8')).toContain('permission_dismissed');
  });

  test('the script of package.json copies the file after each installation', async () => {
    const [json] = codeIn(document, 'json');
    const { scripts } = JSON.parse(json!);
    const folder = await npmProject(built.tarball);
    try {
      folder.write('public/index.html', '');
      await folder.run('npm', 'pkg', 'set', `scripts.postinstall=${scripts.postinstall}`);
      await folder.run('npm', 'install', '--offline', '--no-audit', '--ignore-scripts=false');
      const copied = join(folder.path, 'public/carillon-sw.js');
      expect(existsSync(copied) && readFileSync(copied, 'utf8')).toBe(worker());
    } finally {
      folder.remove();
    }
  });

  test('the script for webpack copies the file into the build', async () => {
    const [, postbuild] = /"postbuild": "([^"]+)"/.exec(readFileSync(document, 'utf8'))!;
    const copied = project.write('dist/carillon-sw.js', 'an earlier version');
    await project.run('sh', '-ec', postbuild!);
    expect(readFileSync(copied, 'utf8')).toBe(worker());
  });

  test('a bundled worker that imports `carillon/sw` handles its pushes before the site’s', async () => {
    const code = codeIn(document, 'js').find((block) => block.includes("'carillon/sw'"))!;
    project.write('sw.js', `${code}\nself.addEventListener('push', () => 'the site');`);
    const esbuild = programOf('esbuild/bin/esbuild');
    const options = ['--bundle', '--format=iife'];
    const bundle = await runCommand(esbuild, ['sw.js', ...options], { cwd: project.path });
    const [first, last] = [bundle.indexOf('"push"'), bundle.lastIndexOf('"push"')];
    expect(bundle.slice(first)).toContain('stopImmediatePropagation');
    expect(bundle.indexOf('the site')).toBeGreaterThan(last);
    expect(first).toBeLessThan(last);
  });
});
