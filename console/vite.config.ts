import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/** Lists the sources beside the page's folder: docs/licences.md names their packages. */
const sourceList: Plugin = {
  name: 'source-list',
  writeBundle({ dir }, bundle) {
    const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
    const modules = chunks.flatMap((chunk) => Object.entries(chunk.modules));
    const sources = modules
      // Modules of the bundler itself start with a NUL.
      .filter(([file, { renderedLength }]) => renderedLength > 0 && !file.startsWith('\0'))
      .map(([file]) => relative(join(import.meta.dirname, '..'), file))
      .sort();
    writeFileSync(join(dir!, '../page-sources.json'), JSON.stringify({ sources }));
  },
};

/** Leaves the built files compressed only, as the function of the console serves them. */
const compressed: Plugin = {
  name: 'compressed',
  writeBundle({ dir }) {
    for (const name of readdirSync(dir!)) {
      const file = join(dir!, name);
      writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
      rmSync(file);
    }
  },
};

export default defineConfig({
  root: join(import.meta.dirname, 'page'),
  base: '/console/',
  logLevel: 'warn',
  build: {
    target: 'es2022',
    assetsDir: '.',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    // One file: nobody waits for a view's code.
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      // The directives of React's packages for servers mean nothing here.
      onwarn(warning, warn) {
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning);
      },
    },
  },
  // The build of the same parser that brings its own Buffer.
  resolve: { alias: { 'csv-parse/sync': 'csv-parse/browser/esm/sync' } },
  plugins: [sourceList, compressed],
  // `npx vite --config console/vite.config.ts`: a page that follows each change, for the API of `npm start`.
  server: { proxy: { '/api': 'http://localhost:4000' } },
});
