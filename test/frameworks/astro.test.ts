import { join } from 'node:path';
import { filesIn } from '../browser/fixtures/built-site.ts';
import { describeInBrowsers } from '../browser/fixtures/sdk-session.ts';
import { until } from '../fixtures/until.ts';
import { installApp } from './install-app.ts';

/** The last major that runs on Node.js 20. */
const astro = 'astro@5.9.4';

const bell = '.floating >>> button[aria-expanded]';

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
    await page.evaluate(() => Object.assign(window, { isSame: true }));
    for (const title of ['Two', 'One', 'Two']) {
      await page.waitForSelector(bell, { visible: true });
      await page.click('#next');
      await until(title, () => page.$eval('h1', (h1, text) => h1.textContent === text, title));
    }
    expect(await page.evaluate('isSame')).toBe(true);
    await page.waitForSelector(bell, { visible: true });
    expect(await page.$$eval(bell, (all) => all.length)).toBe(1);
    await page.click(bell);
    expect(await page.$eval(bell, (button) => button.ariaExpanded)).toBe('true');
    await page.goBack().catch(() => {});
    await until('the former page', () => page.$eval('h1', (h1) => h1.textContent === 'One'));
    await page.waitForSelector(bell, { visible: true });
  });
});
