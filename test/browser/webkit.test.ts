import { mkdirSync } from 'node:fs';
import type { PushState } from '../../sdk/client/carillon.ts';
import { until } from '../fixtures/until.ts';
import { type Site, startSite } from './fixtures/site.ts';
import { type BrowserStack, startBrowserStack } from './fixtures/stack.ts';
import { findWebkit, launchWebkit, type Webkit } from './fixtures/webkit.ts';

const binary = findWebkit();
const screenshots = '.carillon/screenshots';

/** Records what a page throws. */
const recordErrors = `<script>
  self.errors = [];
  addEventListener('error', ({ message }) => self.errors.push(message));
  addEventListener('unhandledrejection', ({ reason }) => self.errors.push(String(reason)));
</script>`;

(binary ? describe : describe.skip)('in WebKitGTK, which has no push', () => {
  let stack: BrowserStack;
  let webkit: Webkit;
  let site: Site;

  beforeAll(async () => {
    mkdirSync(screenshots, { recursive: true });
    stack = await startBrowserStack();
    webkit = await launchWebkit(binary!);
    site = await startSite(stack.baseUrl, await stack.newProject());
    site.files.set('/', recordErrors + site.files.get('/')!);
  });

  afterAll(async () => {
    await webkit?.close();
    await site?.stop();
    await stack?.stop();
  });

  const errors = () => webkit.evaluate('self.errors');

  test('a page learns why it cannot subscribe', async () => {
    await webkit.open(`${site.origin}/`);
    expect(await webkit.evaluate<PushState>('push.state()')).toMatchObject({
      supported: false,
      reason: 'no_push',
      permission: 'unsupported',
      worker: 'none',
      subscribed: false,
      lost: false,
    });
    const code = await webkit.evaluate('push.subscribe().catch(({ code }) => code)');
    expect(code).toBe('unsupported');
    expect(await webkit.evaluate('push.unsubscribe()')).toBe(false);
    expect(await webkit.evaluate('push.identify("ada")')).toBeNull();
    expect(await errors()).toEqual([]);
  });

  test('there is no bell and no prompt', async () => {
    const script = `<main><h1>A site</h1></main><script type="module">
      import { showBell, showPrompt } from '/carillon-bell.mjs';
      showBell(push, { channels: { news: 'News' } });
      showPrompt(push);
    </script>`;
    site.files.set('/bell', site.files.get('/')! + script);
    await webkit.open(`${site.origin}/bell`);
    await until('the end of the prompt', async () => {
      return (await webkit.evaluate('document.querySelectorAll(".floating").length')) === 1;
    });
    await webkit.evaluate('push.state()');
    await webkit.screenshot(`${screenshots}/bell-webkit.png`);
    const visible = 'document.querySelector(".floating").checkVisibility()';
    expect(await webkit.evaluate(visible)).toBe(false);
    expect(await errors()).toEqual([]);
  });

  test('the check names what is missing', async () => {
    const script = `<div id="check"></div><script type="module">
      import { showCheck } from '/carillon-check.mjs';
      self.show = (options) => showCheck(document.getElementById('check'), options);
    </script>`;
    site.files.set('/check', site.files.get('/')! + script);
    await webkit.open(`${site.origin}/check`);
    await until('the script', () => webkit.evaluate<boolean>('"show" in self'));
    const options = site.files.get('/')!.match(/init\((\{[^}]*\})\)/)![1]!;
    const text = await webkit.evaluate<string>(`(async () => {
      await show(${options});
      return document.querySelector('#check > div').shadowRoot.textContent;
    })()`);
    expect(text).toContain('This browser has no push on this page.');
    await webkit.screenshot(`${screenshots}/check-webkit.png`);
    expect(await errors()).toEqual([]);
  });

  test('each view of the console is there', async () => {
    const address = stack.consoleAddress;
    await webkit.open(address);
    const heading = () =>
      webkit.evaluate<string>('document.querySelector("h1")?.textContent ?? ""');
    await until('the first view', async () => (await heading()) === 'Overview');
    await webkit.evaluate(`(() => {
      self.errors = [];
      addEventListener('error', ({ message }) => self.errors.push(message));
    })()`);
    const links = await webkit.evaluate<readonly string[]>(
      '[...document.querySelectorAll("nav a")].map((link) => link.hash).filter(Boolean)',
    );
    expect(links.length).toBeGreaterThan(3);
    const seen = new Set<string>();
    for (const hash of links) {
      await webkit.evaluate(`void (location.hash = ${JSON.stringify(hash)})`);
      const title = await until(hash, async () => {
        const current = await heading();
        return !seen.has(current) && current;
      });
      seen.add(title);
    }
    expect(await errors()).toEqual([]);
  });
});
