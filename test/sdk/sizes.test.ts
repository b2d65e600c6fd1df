import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { transform } from 'esbuild';
import { type BundledFile, bundleSdk, type entryPoints } from '../../sdk/build/bundle.ts';

/** Bytes of each bundle after `gzip -9`. */
const limits: Readonly<Record<keyof typeof entryPoints, number>> = {
  'carillon.mjs': 6100,
  'carillon.js': 6100,
  'carillon-bell.mjs': 4000,
  'carillon-check.mjs': 7000,
  'carillon-sw.js': 4800,
  'carillon-sw.mjs': 4800,
  'carillon-server.mjs': 4400,
};

let files: readonly BundledFile[];

beforeAll(async () => {
  files = await bundleSdk(process.cwd());
});

function contentsOf(name: string): Buffer {
  return Buffer.from(files.find((file) => file.name === name)!.contents);
}

test.each(Object.entries(limits))('%s is at most %i bytes compressed', (file, limit) => {
  // The zlib of Node.js makes files about 20 bytes smaller than gzip, which servers and people use.
  const { stdout } = spawnSync('gzip', ['-9'], { input: contentsOf(file) });
  expect(stdout.length).toBeGreaterThan(1000);
  expect(stdout.length).toBeLessThanOrEqual(limit);
});

test.each(Object.keys(limits))('%s has a source map', (file) => {
  expect(contentsOf(file).toString()).toContain(`//# sourceMappingURL=${file}.map`);
  const { sources } = JSON.parse(contentsOf(`${file}.map`).toString());
  expect(sources.length).toBeGreaterThan(0);
});

test('the SDK contains no code of npm packages', () => {
  for (const { name, contents } of files) {
    if (!name.endsWith('.map')) continue;
    const { sources } = JSON.parse(Buffer.from(contents).toString()) as { sources: string[] };
    expect(sources.filter((source) => source.includes('node_modules'))).toEqual([]);
  }
});

test('the oldest browsers that docs/sdk.md names have the syntax of every bundle', async () => {
  const text = readFileSync('docs/sdk.md', 'utf8');
  const oldest = {
    chrome: /Chromium (\d+)/,
    firefox: /Firefox \| (\d+)/,
    safari: /Safari (\d+) and/,
  };
  const target = Object.entries(oldest).map(([name, version]) => name + version.exec(text)![1]);
  for (const file of Object.keys(limits).filter((name) => name !== 'carillon-server.mjs')) {
    const source = contentsOf(file).toString();
    // esbuild writes what a target lacks in another way, or fails.
    const { code } = await transform(source, { target });
    expect(code).toBe((await transform(source, { target: 'esnext' })).code);
  }
});
