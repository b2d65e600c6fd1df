import { readFileSync } from 'node:fs';
import { codeIn } from '../fixtures/documented-example.ts';

/** The smallest app of a router: a page at its base, and one for each chat. */
export interface RouterApp {
  readonly base: string;
  /** Packages besides the router, with their versions. */
  readonly packages: readonly string[];
  /**
   * @param script subscribes in a click on the button `notify`, and exports `listen(navigate)`.
   * @param navigate an expression of `router` and `path`.
   */
  files(script: string, navigate: string): Readonly<Record<string, string>>;
  readonly build: string;
  readonly output: string;
}

const button = '<button id="notify">Notify me</button>';

const vitePage = (base: string, script: string, main: string) => ({
  'vite.config.js': `export default { base: '${base}/' };`,
  'index.html': `<!doctype html><title>App</title>
<div id="app"></div>${button}<script type="module" src="/app.js"></script>`,
  'main.js': script,
  'app.js': main,
});

/** By the name in the table of docs/sdk.md. */
export const routerApps: Readonly<Record<string, RouterApp>> = {
  'React Router': {
    base: '/shop',
    packages: ['react@19.3.1', 'react-dom@19.3.1', 'vite@8.4.0'],
    files: (script, navigate) =>
      vitePage(
        '/shop',
        script,
        `
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter, RouterProvider, useParams } from 'react-router';
import { listen } from './main.js';

const Heading = () => createElement('h1', {}, 'Chat ' + (useParams().id ?? 'list'));
const page = createElement(Heading);
const routes = [{ path: '/', element: page }, { path: '/chat/:id', element: page }];
const router = createBrowserRouter(routes, { basename: '/shop' });
createRoot(document.getElementById('app')).render(createElement(RouterProvider, { router }));
listen((path) => ${navigate});`,
      ),
    build: 'vite build',
    output: 'dist',
  },

  'Vue Router': {
    base: '',
    packages: ['vue@3.5.45', 'vite@8.4.0'],
    files: (script, navigate) =>
      vitePage(
        '',
        script,
        `
import { createApp, h } from 'vue';
import { createRouter, createWebHistory, RouterView, useRoute } from 'vue-router';
import { listen } from './main.js';

const component = { setup: () => () => h('h1', 'Chat ' + (useRoute().params.id ?? 'list')) };
const routes = [{ path: '/', component }, { path: '/chat/:id', component }];
const router = createRouter({ history: createWebHistory(), routes });
createApp(RouterView).use(router).mount('#app');
listen((path) => ${navigate});`,
      ),
    build: 'vite build',
    output: 'dist',
  },

  'Next.js': {
    base: '',
    packages: ['react@19.3.1', 'react-dom@19.3.1'],
    files: (script, navigate) => ({
      'next.config.mjs': `export default { output: 'export' };`,
      'main.js': script,
      'app/listener.jsx': `'use client';
import { useRouter } from 'next/navigation';
import { useEffect } from 'react';

export default function Listener() {
  const router = useRouter();
  useEffect(() => void import('../main.js').then(({ listen }) => listen((path) => ${navigate})), []);
  return null;
}`,
      'app/layout.jsx': `import Listener from './listener.jsx';

export default ({ children }) => <html><body>{children}${button}<Listener /></body></html>;`,
      'app/page.jsx': `export default () => <h1>Chat list</h1>;`,
      'app/chat/[id]/page.jsx': `
export const generateStaticParams = () => [{ id: '7' }];
export default async ({ params }) => <h1>Chat {(await params).id}</h1>;`,
    }),
    build: 'next build --webpack',
    output: 'out',
  },
};

const row = /^\| ([^|]+) \| ((?:`[^`]+` ?)+) \| `(router\.[^`]+)` \|/gm;

/** Reads the table of routers: the router's package with its version, and the expression that navigates. */
export function readRouters() {
  const document = readFileSync('docs/sdk.md', 'utf8');
  return [...document.matchAll(row)].map(([, name, packages, navigate]) => ({
    name: name!,
    packages: [...packages!.matchAll(/`([^`]+)`/g)].map(([, one]) => one!),
    navigate: navigate!,
  }));
}

/** What listens to clicks, with the base path of an app: a function of `navigate`. */
export function documentedListener(base: string): string {
  const code = codeIn('docs/sdk.md', 'js').find((block) => block.startsWith("const base = '"));
  return `export function listen(navigate) {
${code!.replace("const base = ''", `const base = '${base}'`)}}`;
}
