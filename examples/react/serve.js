import { context } from 'esbuild';

/** Bundles the page and the service worker, and serves them with `public/`. */
const { PORT = '8000' } = process.env;
const port = Number(PORT);
const config = {
  baseUrl: process.env.CARILLON_BASE_URL,
  projectId: process.env.CARILLON_PROJECT,
  applicationServerKey: process.env.CARILLON_APPLICATION_SERVER_KEY,
};

const site = await context({
  absWorkingDir: import.meta.dirname,
  entryPoints: { main: 'src/main.tsx', 'carillon-sw': 'carillon/sw' },
  bundle: true,
  jsx: 'automatic',
  // tsconfig.json is for the type check of the repository.
  tsconfigRaw: {},
  define: { CONFIG: JSON.stringify(config), 'process.env.NODE_ENV': '"production"' },
  outdir: 'public',
  write: false,
});
await site.serve({ servedir: 'public', port });
console.log(`Open http://localhost:${port}`);
