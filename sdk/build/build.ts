import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundleSdk, bundleServerClient } from './bundle.ts';
import { emitTypes } from './emit-types.ts';

/** Builds the SDK's files into `sdk/dist/`. */
const root = join(import.meta.dirname, '../..');
const dist = join(root, 'sdk/dist');

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
for (const { name, contents } of [
  ...(await bundleSdk(root)),
  ...(await bundleServerClient(root)),
]) {
  writeFileSync(join(dist, name), contents);
  const size = `${contents.length} bytes, ${gzipSync(contents).length} compressed`;
  if (!name.endsWith('.map')) console.log(`${relative(root, join(dist, name))}: ${size}`);
}
emitTypes(root, dist);
