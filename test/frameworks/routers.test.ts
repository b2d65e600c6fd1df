import { join } from 'node:path';
import { documentedScript, filesIn } from '../browser/fixtures/built-site.ts';
import { describeWithSdk } from '../browser/fixtures/sdk-session.ts';
import { serve } from '../browser/fixtures/site.ts';
import { builtPackage } from '../fixtures/npm-project.ts';
import { until } from '../fixtures/until.ts';
import { installApp } from './install-app.ts';
import { documentedListener, readRouters, routerApps } from './routers.ts';

describeWithSdk('the routers of docs/sdk.md, with the packages of npm', (session) => {
  let carillon: Awaited<ReturnType<typeof builtPackage>>;

  beforeAll(async () => {
    carillon = await builtPackage();
  });

  afterAll(() => carillon?.remove());

  test('are all tested', () => {
    expect(readRouters().map(({ name }) => name)).toEqual(Object.keys(routerApps));
  });

  test.each(readRouters())(
    '$name shows the URL of a click without loading the page',
    async ({ name, packages, navigate }) => {
      const { base, packages: others, files, build, output } = routerApps[name]!;
      const { stack } = session;
      const project = await stack.newProject();
      const { folder, run } = await installApp([...packages, ...others, carillon.tarball]);
      session.closeLater(async () => folder.remove());
      const worker = `${base}/carillon-sw.js`;
      const subscribing = documentedScript(stack.baseUrl, project).replace(
        'init({',
        `init({ serviceWorker: '${worker}',`,
      );
      const script = subscribing + documentedListener(base);
      for (const [file, content] of Object.entries(files(script, navigate))) {
        folder.write(file, content);
      }
      await run('npm', 'exec', '--offline', '--', ...build.split(' '));
      const built = filesIn(join(folder.path, output));
      const site = await serve(
        new Map([...built].map(([path, content]) => [base + path, content])),
      );
      session.closeLater(site.stop);
      const sdk = filesIn(join(folder.path, 'node_modules/carillon'));
      site.files.set(worker, sdk.get('/carillon-sw.js')!);

      const home = `${site.origin}${base}/`;
      const { page } = await session.open(home);
      const showsHeading = (text: string) =>
        until(text, () =>
          page.evaluate((expected) => document.querySelector('h1')?.textContent === expected, text),
        );
      await showsHeading('Chat list');
      await page.waitForFunction(() => document.getElementById('notify')?.onclick);
      await page.evaluate(async () => {
        Object.assign(window, { isSame: true });
        await document.getElementById('notify')!.onclick!(new PointerEvent('click'));
      });
      const tabs = (await session.openUrls()).length;
      for (const [url, heading] of [
        [`${home}chat/7?from=push#last`, 'Chat 7'],
        [home, 'Chat list'],
      ] as const) {
        const { id } = await stack.send(project, { title: heading, url });
        await session.firefox.clickNotification(heading);
        await stack.expectBeacons(project, id, { shown: 1, clicked: 1 });
        await showsHeading(heading);
        expect(page.url()).toBe(url);
      }
      expect(await page.evaluate('isSame')).toBe(true);
      expect(await session.openUrls()).toHaveLength(tabs);
    },
  );
});
