import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { codeIn } from '../fixtures/documented-example.ts';
import { temporaryFolder } from '../fixtures/folder.ts';

const document = 'docs/sdk.md';
const root = process.cwd();

/** What the code blocks use without declaring it. */
const declarations = `
  import type { CarillonClient } from 'carillon';
  import 'carillon/global';
  declare global {
    const push: CarillonClient;
    const baseUrl: string;
    const projectId: string;
    const applicationServerKey: string;
    function importScripts(url: string): void;
    function navigate(path: string): void;
    function showHowToAllowNotifications(): void;
    function retryIn(seconds: number | undefined): void;
  }
`;

/** Not strict, as in a page without TypeScript. */
const compilerOptions = {
  allowJs: true,
  checkJs: true,
  strict: false,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  target: 'es2023',
  lib: ['es2023', 'es2024.string', 'dom', 'dom.iterable'],
  module: 'preserve',
  moduleResolution: 'bundler',
  moduleDetection: 'force',
  types: [],
  paths: {
    carillon: [join(root, 'sdk/client/carillon.ts')],
    'carillon/global': [join(root, 'sdk/client/global.ts')],
    'carillon/bell': [join(root, 'sdk/bell/carillon-bell.ts')],
    'carillon/check': [join(root, 'sdk/check/carillon-check.ts')],
  },
};

test('the code has no mistyped call of the SDK', () => {
  const scripts = codeIn(document, 'html').flatMap((html) =>
    [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script]) => script!),
  );
  const blocks = [...codeIn(document, 'js'), ...scripts];
  expect(blocks.length).toBeGreaterThan(10);
  const folder = temporaryFolder();
  try {
    for (const [index, block] of blocks.entries()) folder.write(`block-${index}.js`, block);
    folder.write('declarations.ts', declarations);
    // As in the package, where it has an empty declaration file.
    folder.write('worker.d.ts', `declare module 'carillon/sw';`);
    folder.write('tsconfig.json', JSON.stringify({ compilerOptions }));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder.path], { encoding: 'utf8' });
    expect(stdout).toBe('');
  } finally {
    folder.remove();
  }
}, 120_000);
