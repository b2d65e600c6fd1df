import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { writePackage } from './write-package.ts';

/** Builds and packs the npm package into `sdk/dist/`. */
const root = join(import.meta.dirname, '../..');
const { folder, tarball, files } = await writePackage(root, join(root, 'sdk/dist'));

for (const { name, contents } of files) {
  const size = `${contents.length} bytes, ${gzipSync(contents).length} compressed`;
  if (!name.endsWith('.map')) console.log(`${relative(root, join(folder, name))}: ${size}`);
}
console.log(relative(root, tarball));
