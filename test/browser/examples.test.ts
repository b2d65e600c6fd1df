import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { codeIn } from '../fixtures/documented-example.ts';
import { type Examples, prepareExamples } from '../fixtures/examples.ts';
import { npmProject, programOf } from '../fixtures/npm-project.ts';
import { until } from '../fixtures/until.ts';
import { describeWith } from './fixtures/browsers.ts';
import { type SdkSession, startSdkSession } from './fixtures/sdk-session.ts';
import { serveFiles } from './fixtures/site.ts';

describeWith('firefox', 'sites that install the npm package', (executablePath) => {
  let session: SdkSession;
  let examples: Examples;

  beforeAll(async () => {
    session = await startSdkSession(executablePath);
    examples = await prepareExamples(session.stack, session.stack.demo);
  });

  afterEach(() => session.closeAll());
  afterAll(async () => {
    examples?.remove();
    await session?.stop();
  });

  async function open(origin: string): Promise<Page> {
    const page = await session.firefox.browser.newPage();
    session.closeLater(() => page.close());
    await page.goto(origin);
    return page;
  }

  /** Waits until the page's button has this text. */
  const button = (page: Page, text: string) => page.waitForSelector(`button ::-p-text(${text})`);

  test('an empty folder, the package and the code of docs/sdk.md make a site that shows a notification', async () => {
    const { stack } = session;
    const project = await stack.newProject();
    const folder = await npmProject(examples.tarball);
    session.closeLater(async () => folder.remove());
    const [install, , copyWorker] = codeIn('docs/sdk.md', 'sh');
    expect(install).toBe('npm install carillon\n');
    await folder.run('sh', '-ec', copyWorker!);
    folder.write('index.html', codeIn('docs/sdk.md', 'html')[0]!);
    const { projectId, applicationServerKey } = project;
    const script = codeIn('docs/sdk.md', 'js')[0]!
      .replace('https://push.example.com', stack.baseUrl)
      .replace('shop', projectId)
      .replace('BNbx…', applicationServerKey);
    folder.write('main.js', script);
    await folder.run(process.execPath, programOf('vite/bin/vite.js'), 'build');

    const site = await serveFiles(join(folder.path, 'dist'));
    session.closeLater(site.stop);
    const page = await open(site.origin);
    await page.click('button');
    await until('the subscription', async () => (await stack.subscriptions(project)).length === 1);
    const { id, delivered } = await stack.send(project, { title: 'It works' });
    expect(delivered).toBe(1);
    await stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
  });
});
