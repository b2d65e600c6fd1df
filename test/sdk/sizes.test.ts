import { gzipSync } from 'node:zlib';
import { type BundledFile, bundleSdk, bundleServerClient } from '../../sdk/build/bundle.ts';

let files: readonly BundledFile[];

beforeAll(async () => {
  const root = process.cwd();
  files = [...(await bundleSdk(root)), ...(await bundleServerClient(root))];
});

function contentsOf(name: string): Buffer {
  return Buffer.from(files.find((file) => file.name === name)!.contents);
}

/** kB of 1,000 bytes. */
test.each([
  ['carillon.mjs', 4],
  ['carillon.js', 4],
  ['carillon-sw.js', 3.5],
  ['carillon-server.mjs', 4],
])('%s is at most %s kB compressed', (name, kilobytes) => {
  expect(gzipSync(contentsOf(name)).length).toBeLessThanOrEqual(kilobytes * 1000);
});

test.each(['carillon.mjs', 'carillon.js', 'carillon-sw.js', 'carillon-server.mjs'])(
  '%s has a source map',
  (name) => {
    expect(contentsOf(name).toString()).toContain(`//# sourceMappingURL=${name}.map`);
    const { sources } = JSON.parse(contentsOf(`${name}.map`).toString());
    expect(sources.length).toBeGreaterThan(3);
  },
);

test('the SDK contains no code of npm packages', () => {
  for (const { name, contents } of files) {
    if (!name.endsWith('.map')) continue;
    const { sources } = JSON.parse(Buffer.from(contents).toString()) as { sources: string[] };
    expect(sources.filter((source) => source.includes('node_modules'))).toEqual([]);
  }
});
