import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

/** Stands in for the host of your site. There, these five are files. */
const { PORT = '8000' } = process.env;
const port = Number(PORT);
const config = {
  baseUrl: process.env.CARILLON_BASE_URL,
  projectId: process.env.CARILLON_PROJECT,
  applicationServerKey: process.env.CARILLON_APPLICATION_SERVER_KEY,
};
const fileOf = (url) => readFile(fileURLToPath(url));

const html = 'text/html; charset=utf-8';
const script = 'text/javascript; charset=utf-8';
const files = {
  '/': [html, await fileOf(new URL('index.html', import.meta.url))],
  '/config.js': [script, `const config = ${JSON.stringify(config)};`],
  '/carillon.js': [script, await fileOf(import.meta.resolve('carillon/global'))],
  '/carillon-bell.mjs': [script, await fileOf(import.meta.resolve('carillon/bell'))],
  '/carillon-sw.js': [script, await fileOf(import.meta.resolve('carillon/sw'))],
};

const server = createServer((request, response) => {
  const [type, contents] = files[request.url.split('?')[0]] ?? [];
  response.writeHead(type ? 200 : 404, { 'Content-Type': type ?? 'text/plain' }).end(contents);
});
server.listen(port, '127.0.0.1', () => console.log(`Open http://localhost:${port}`));
