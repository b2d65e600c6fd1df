/** Builds and packs both npm packages, and the plugin for WordPress, into `sdk/dist/`, and prints their sizes. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { filesIn } from '../lib/build/bundle-functions.ts';
import { writeAwsPackage } from '../lib/build/write-package.ts';
import { writePlugin } from '../lib/build/write-plugin.ts';
import packageJson from '../package.json' with { type: 'json' };
import { writePackage } from '../sdk/build/write-package.ts';
import { packageVersion } from './package-version.ts';

const root = join(import.meta.dirname, '..');
const target = join(root, 'sdk/dist');
const commit = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
const version = packageVersion(
  packageJson.version,
  readFileSync(join(root, 'CHANGELOG.md'), 'utf8'),
  commit.status === 0 ? commit.stdout.trim() : undefined,
);
const sdk = await writePackage(root, target, version);
for (const name of readdirSync(sdk.folder).filter((file) => /\.m?js$/.test(file))) {
  const contents = readFileSync(join(sdk.folder, name));
  const size = `${contents.length} bytes, ${gzipSync(contents).length} compressed`;
  console.log(`${relative(root, join(sdk.folder, name))}: ${size}`);
}
console.log(relative(root, sdk.tarball));

const aws = await writeAwsPackage(root, target, version);
const installed = filesIn(aws.folder).reduce((sum, file) => sum + statSync(file).size, 0);
console.log(
  `${relative(root, aws.folder)}: ${installed} bytes, ${statSync(aws.tarball).size} packed`,
);
console.log(relative(root, aws.tarball));

const plugin = await writePlugin(root, target, sdk.folder, version);
console.log(`${relative(root, plugin)}: ${statSync(plugin).size} bytes`);
