import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installNode } from '../../bin/deployed-node.ts';
import { nodeVersion } from '../../contract/infrastructure/runtime.ts';
import { documentedScript, filesIn } from '../browser/fixtures/built-site.ts';
import { describeWithSdk } from '../browser/fixtures/sdk-session.ts';
import { serve } from '../browser/fixtures/site.ts';
import type { TestProject } from '../browser/fixtures/stack.ts';
import { builtPackage } from '../fixtures/npm-project.ts';
import { until } from '../fixtures/until.ts';
import { apps } from './apps.ts';
import { installApp } from './install-app.ts';
import { readRecipes } from './recipe.ts';

const recipes = readRecipes();
const tested = [...recipes.keys()].filter((name) => recipes.get(name)!.packages.length > 0);

async function withDeployedNode(): Promise<NodeJS.ProcessEnv> {
  const folder = dirname(await installNode(nodeVersion));
  return { ...process.env, PATH: `${folder}:${process.env.PATH}` };
}

describeWithSdk('the recipes of docs/sdk.md, with the packages of npm', (session) => {
  let carillon: Awaited<ReturnType<typeof builtPackage>>;

  beforeAll(async () => {
    carillon = await builtPackage();
  });

  afterAll(() => carillon?.remove());

  /** Installs the packages. @returns a function that builds the app with a heading, and reads its files. */
  async function install(framework: string, project: TestProject) {
    const { packages, lines, copyTo, serviceWorker } = recipes.get(framework)!;
    const app = apps[framework]!;
    const env = app.needsDeployedNode ? await withDeployedNode() : process.env;
    const { folder, run } = await installApp([...packages, ...app.packages, carillon.tarball], env);
    session.closeLater(async () => folder.remove());
    if (copyTo !== undefined) {
      mkdirSync(join(folder.path, copyTo), { recursive: true });
      copyFileSync(
        join(folder.path, 'node_modules/carillon/carillon-sw.js'),
        join(folder.path, copyTo, 'carillon-sw.js'),
      );
    }
    const script = documentedScript(session.stack.baseUrl, project).replace(
      'init({',
      `init({ serviceWorker: '${serviceWorker}',`,
    );
    return async (heading: string) => {
      const files = app.files({ heading, script }, lines);
      for (const [name, content] of Object.entries(files)) folder.write(name, content);
      await run('npm', 'exec', '--offline', '--', ...app.build.split(' '));
      return filesIn(join(folder.path, app.output));
    };
  }

  test.each(tested)(
    '%s: pushes are shown before and after a deployment, and the page loads offline',
    async (framework) => {
      const { stack } = session;
      const project = await stack.newProject();
      const build = await install(framework, project);
      const site = await serve(await build('First build'));
      session.closeLater(site.stop);

      async function expectShown(title: string) {
        const { id } = await stack.send(project, { title });
        await stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
      }
      async function headingOfNewTab() {
        const { page } = await session.open(`${site.origin}/`);
        const heading = await page.$eval('h1', ({ textContent }) => textContent);
        await page.close();
        return heading;
      }

      const { page } = await session.open(`${site.origin}/`);
      await page.waitForFunction(() => document.getElementById('notify')?.onclick);
      // Waits for the SDK, unlike a click.
      await page.evaluate(async () => {
        await document.getElementById('notify')!.onclick!(new PointerEvent('click'));
      });
      await expectShown('First push');

      const second = await build('Second build');
      site.files.clear();
      for (const [path, content] of second) site.files.set(path, content);
      // A new worker waits until all tabs of the old one are closed.
      await page.close();
      await until('the second build', async () => (await headingOfNewTab()) === 'Second build');
      await expectShown('Second push');

      await site.stop();
      expect(await headingOfNewTab()).toBe('Second build');
    },
  );
});
