/** A file that the SDK is bundled into, and an export of the npm package. */
export interface Output {
  /** By which the package exports it. */
  readonly subpath: string;
  /** `.mjs` is a module, `.js` a classic script. */
  readonly file: string;
  /** In `sdk/`. */
  readonly entryPoint: string;
  readonly runsIn: 'page' | 'worker' | 'server';
  /** After `gzip -9`. */
  readonly maxCompressedBytes: number;
}

/** Everything that the SDK is built into. */
export const outputs: readonly Output[] = [
  {
    subpath: '.',
    file: 'carillon.mjs',
    entryPoint: 'client/carillon.ts',
    runsIn: 'page',
    maxCompressedBytes: 4352,
  },
  {
    subpath: './global',
    file: 'carillon.js',
    entryPoint: 'client/global.ts',
    runsIn: 'page',
    maxCompressedBytes: 4352,
  },
  {
    subpath: './bell',
    file: 'carillon-bell.mjs',
    entryPoint: 'bell/carillon-bell.ts',
    runsIn: 'page',
    maxCompressedBytes: 3072,
  },
  {
    subpath: './check',
    file: 'carillon-check.mjs',
    entryPoint: 'check/carillon-check.ts',
    runsIn: 'page',
    maxCompressedBytes: 4096,
  },
  {
    subpath: './sw',
    file: 'carillon-sw.js',
    entryPoint: 'worker/carillon-sw.ts',
    runsIn: 'worker',
    maxCompressedBytes: 3584,
  },
  {
    subpath: './server',
    file: 'carillon-server.mjs',
    entryPoint: 'server/carillon-server.ts',
    runsIn: 'server',
    maxCompressedBytes: 4096,
  },
];
