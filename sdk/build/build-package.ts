import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { writePackage } from './write-package.ts';

/** Builds and packs the npm package into `sdk/dist/`. */
const root = join(import.meta.dirname, '../..');
const { folder, tarball } = await writePackage(root, join(root, 'sdk/dist'));
for (const name of readdirSync(folder).filter((file) => /\.m?js$/.test(file))) {
  const contents = readFileSync(join(folder, name));
  const size = `${contents.length} bytes, ${gzipSync(contents).length} compressed`;
  console.log(`${relative(root, join(folder, name))}: ${size}`);
}
console.log(relative(root, tarball));
