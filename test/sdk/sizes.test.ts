import { spawnSync } from 'node:child_process';
import { type BundledFile, bundleSdk, bundleServerClient } from '../../sdk/build/bundle.ts';
import { outputs } from '../../sdk/build/outputs.ts';

let files: readonly BundledFile[];

beforeAll(async () => {
  const root = process.cwd();
  files = [...(await bundleSdk(root)), ...(await bundleServerClient(root))];
});

function contentsOf(name: string): Buffer {
  return Buffer.from(files.find((file) => file.name === name)!.contents);
}

test.each(outputs)('$file is at most $maxCompressedBytes bytes compressed', (output) => {
  // The zlib of Node.js makes files about 20 bytes smaller than gzip, which servers and people use.
  const { stdout } = spawnSync('gzip', ['-9'], { input: contentsOf(output.file) });
  expect(stdout.length).toBeGreaterThan(1000);
  expect(stdout.length).toBeLessThanOrEqual(output.maxCompressedBytes);
});

test.each(outputs)('$file has a source map', ({ file }) => {
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
