import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundleSdk } from './bundle.ts';

/** Builds the SDK's files into `sdk/dist/`. */
const root = join(import.meta.dirname, '../..');
const dist = join(root, 'sdk/dist');

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
for (const { name, contents } of await bundleSdk(root)) {
  writeFileSync(join(dist, name), contents);
  const size = `${contents.length} bytes, ${gzipSync(contents).length} compressed`;
  if (!name.endsWith('.map')) console.log(`${relative(root, join(dist, name))}: ${size}`);
}

const emit = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly'];
const paths = ['--rootDir', root, '--outDir', `${dist}/types`];
const tsc = join(root, 'node_modules/typescript/bin/tsc');
execFileSync(process.execPath, [tsc, '-p', 'sdk', ...emit, ...paths], {
  cwd: root,
  stdio: 'inherit',
});
// TypeScript looks for the types of `carillon.mjs` under this name.
writeFileSync(join(dist, 'carillon.d.mts'), "export * from './types/sdk/client/carillon.js';\n");
