import { join } from 'node:path';
import { filesIn } from '../browser/fixtures/built-site.ts';
import { describeInBrowsers } from '../browser/fixtures/sdk-session.ts';
import { followLinks } from '../browser/fixtures/site-page.ts';
import { until } from '../fixtures/until.ts';
import { installApp } from './install-app.ts';

/** The last major that runs on Node.js 20. */
const astro = 'astro@5.9.4';

/** While a view transition runs, no element gets clicks. */
const bell = 'html:not([data-astro-transition]) .floating >>> button[aria-expanded]';

/** @param place of the scripts, which Astro runs again, or not, by where they are. */
function pageOf(place: 'head' | 'body', title: string, next: string): string {
  const scripts = `<script is:inline src="/card.js"></script>
    <script is:inline type="module">
      import { showBell, showPrompt } from '/carillon-bell.mjs';
      showBell(push);
      showPrompt(push);
    </script>`;
  return `---
import { ClientRouter } from 'astro:transitions';
---
<html lang="en">
  <head><title>${title}</title><script is:inline src="/carillon.js"></script><ClientRouter />
    ${place === 'head' ? scripts : ''}
  </head>
  <body><h1>${title}</h1><a id="next" href="/${place}/${next}/">Next</a>${place === 'body' ? scripts : ''}</body>
</html>`;
}

const places = ['head', 'body'] as const;

describeInBrowsers('with the router of Astro', (session) => {
  let built: Map<string, string>;

  beforeAll(async () => {
    const { folder, run } = await installApp([astro]);
    for (const place of places) {
      folder.write(`src/pages/${place}/one.astro`, pageOf(place, 'One', 'two'));
      folder.write(`src/pages/${place}/two.astro`, pageOf(place, 'Two', 'one'));
    }
    await run('npm', 'exec', '--offline', '--', 'astro', 'build');
    built = filesIn(join(folder.path, 'dist'));
    folder.remove();
  });

  test.each(places)('scripts in the %s show one bell after each link', async (place) => {
    const { site } = await session.newSite();
    const [, card = ''] = /<script>(.*)<\/script>/s.exec(site.files.get('/')!)!;
    site.files.set('/card.js', card);
    for (const [path, content] of built) site.files.set(path.replace('index.html', ''), content);
    const { page } = await session.open(`${site.origin}/${place}/one/`);
    await followLinks(page, bell);
    await page.waitForSelector(bell, { visible: true });
    expect(await page.$$eval(bell, (all) => all.length)).toBe(1);
    await page.click(bell);
    expect(await page.$eval(bell, (button) => button.ariaExpanded)).toBe('true');
    await page.goBack().catch(() => {});
    await until('the former page', () => page.$eval('h1', (h1) => h1.textContent === 'One'));
    await page.waitForSelector(bell, { visible: true });
  });
});
