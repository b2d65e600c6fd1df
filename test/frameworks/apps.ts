import type { Recipe } from './recipe.ts';

/** The smallest app of a framework that works offline. */
interface App {
  /** Packages besides those of the recipe, with their versions. */
  readonly packages: readonly string[];
  /** What a build needs besides the packages of the recipe. */
  files(page: Page, lines: Recipe['lines']): Readonly<Record<string, string>>;
  /** A program of the packages, with its arguments. */
  readonly build: string;
  /** The folder that is served. */
  readonly output: string;
  /** It refuses the oldest Node.js that this repository supports, so that of the deployed functions builds it. */
  readonly needsDeployedNode?: boolean;
}

interface Page {
  readonly heading: string;
  /** `main.js` of docs/sdk.md: expects the button `notify`. */
  readonly script: string;
}

const button = '<button id="notify">Notify me</button>';

const vitePage = ({ heading, script }: Page) => ({
  // The plugin adds the script that registers the worker, if there are `head` and `body`.
  'index.html': `<!doctype html><html><head><title>App</title></head><body>
<h1>${heading}</h1>${button}<script type="module" src="/main.js"></script>
</body></html>`,
  'main.js': script,
  // Exists in each app that a generator makes.
  'public/robots.txt': '',
});

const viteConfig = (options: string) => `
import { defineConfig } from 'vite';
import { VitePWA } from 'vite-plugin-pwa';

export default defineConfig({ plugins: [VitePWA({ ${options} })] });`;

const angularOptions = {
  browser: 'src/main.ts',
  tsConfig: 'tsconfig.json',
  assets: [{ glob: '**/*', input: 'public' }],
  serviceWorker: 'ngsw-config.json',
  outputPath: { base: 'dist', browser: '' },
};

/** By the name in the table of docs/sdk.md. */
export const apps: Readonly<Record<string, App>> = {
  'vite-plugin-pwa, generateSW': {
    packages: ['vite@8.3.8'],
    files: (page, lines) => ({
      ...vitePage(page),
      'vite.config.ts': viteConfig(lines['vite.config.ts']!),
    }),
    build: 'vite build',
    output: 'dist',
  },

  'vite-plugin-pwa, injectManifest': {
    packages: ['vite@8.3.8', 'workbox-precaching@7.4.1'],
    files: (page, lines) => ({
      ...vitePage(page),
      'vite.config.ts': viteConfig(
        `strategies: 'injectManifest', srcDir: 'src', filename: 'sw.ts'`,
      ),
      'src/sw.ts': `${lines['src/sw.ts']}
import { precacheAndRoute } from 'workbox-precaching';

precacheAndRoute(self.__WB_MANIFEST);`,
    }),
    build: 'vite build',
    output: 'dist',
  },

  SvelteKit: {
    packages: [
      '@sveltejs/adapter-static@3.0.10',
      '@sveltejs/vite-plugin-svelte@7.3.1',
      'svelte@5.57.3',
      'vite@8.3.8',
    ],
    files: ({ heading, script }, lines) => ({
      'vite.config.ts': `
import { sveltekit } from '@sveltejs/kit/vite';

export default { plugins: [sveltekit()] };`,
      'svelte.config.js': `
import adapter from '@sveltejs/adapter-static';

export default { kit: { adapter: adapter() } };`,
      'src/app.html': `<!doctype html><title>App</title>%sveltekit.head%
<div>%sveltekit.body%</div>`,
      'src/routes/+layout.js': 'export const prerender = true;',
      'src/routes/+page.svelte': `
<script>
  import { onMount } from 'svelte';
  onMount(() => import('../main.js'));
</script>
<h1>${heading}</h1>${button}`,
      'src/main.js': script,
      'src/service-worker.ts': `${lines['src/service-worker.ts']}
import { build, files, prerendered, version } from '$service-worker';

self.addEventListener('install', (event) => {
  const fill = async () => (await caches.open(version)).addAll([...build, ...files, ...prerendered]);
  event.waitUntil(fill());
});
self.addEventListener('activate', (event) => {
  const others = async () => (await caches.keys()).filter((name) => name !== version);
  event.waitUntil(others().then((names) => Promise.all(names.map((name) => caches.delete(name)))));
});
self.addEventListener('fetch', (event) => {
  event.respondWith(caches.match(event.request).then((found) => found ?? fetch(event.request)));
});`,
    }),
    build: 'vite build',
    output: 'build',
  },

  'Serwist with Next.js': {
    packages: [
      'react@19.3.1',
      'react-dom@19.3.1',
      '@serwist/next@9.5.13',
      'typescript@6.0.3',
      '@types/node@26.6.6',
      '@types/react@19.3.0',
    ],
    files: ({ heading, script }, lines) => ({
      'next.config.mjs': `
import withSerwist from '@serwist/next';

const offline = withSerwist({
  swSrc: 'app/sw.ts',
  swDest: 'public/sw.js',
  additionalPrecacheEntries: [{ url: '/', revision: '${heading}' }],
});
export default offline({ output: 'export', typescript: { ignoreBuildErrors: true } });`,
      'app/layout.jsx': 'export default ({ children }) => <html><body>{children}</body></html>;',
      'app/page.jsx': `'use client';
import { useEffect } from 'react';

export default function Page() {
  useEffect(() => void import('../main.js'), []);
  return <><h1>${heading}</h1>${button}</>;
}`,
      'main.js': script,
      'app/sw.ts': `${lines['app/sw.ts']}
import { Serwist } from 'serwist';

new Serwist({ precacheEntries: self.__SW_MANIFEST }).addEventListeners();`,
    }),
    build: 'next build --webpack',
    output: 'out',
  },

  Angular: {
    packages: [
      '@angular/cli@22.2.6',
      '@angular/build@22.2.6',
      '@angular/common@22.2.0',
      '@angular/compiler@22.2.0',
      '@angular/compiler-cli@22.2.0',
      '@angular/platform-browser@22.2.0',
      '@angular/service-worker@22.2.0',
      'rxjs@7.8.2',
      'tslib@2.8.1',
      'typescript@6.0.3',
    ],
    files: ({ heading, script }, lines) => ({
      'angular.json': JSON.stringify({
        version: 1,
        projects: {
          app: {
            projectType: 'application',
            root: '',
            architect: {
              build: { builder: '@angular/build:application', options: angularOptions },
            },
          },
        },
      }),
      'tsconfig.json': `{
  "compilerOptions": {
    "target": "es2022", "module": "preserve", "skipLibCheck": true, "allowJs": true
  },
  "files": ["src/main.ts"]
}`,
      'ngsw-config.json': `{
  "index": "/index.html",
  "assetGroups": [{ "name": "app", "resources": { "files": ["/index.html", "/*.js"] } }]
}`,
      'src/index.html': `<!doctype html><html><head><title>App</title><base href="/"></head><body>
<app-root></app-root></body></html>`,
      'src/main.ts': `
import { afterNextRender, Component, inject } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { SwUpdate } from '@angular/service-worker';
import { appConfig } from './app/app.config';

@Component({ selector: 'app-root', template: '<h1>${heading}</h1>${button}' })
class App {
  constructor() {
    afterNextRender(() => void import('./main.js'));
    // By itself, the worker looks for one only when the page has been quiet for 5 s.
    void inject(SwUpdate).checkForUpdate();
  }
}

bootstrapApplication(App, appConfig);`,
      'src/main.js': script,
      'src/app/app.config.ts': `
import { provideServiceWorker } from '@angular/service-worker';

export const appConfig = {
  providers: [${lines['app.config.ts']!.replace('…', `{ registrationStrategy: 'registerImmediately' }`)}],
};`,
      'public/sw.js': lines['public/sw.js']!,
    }),
    build: 'ng build',
    output: 'dist',
    needsDeployedNode: true,
  },
};
