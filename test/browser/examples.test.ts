import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Page } from 'puppeteer-core';
import type { CarillonClient } from '../../sdk/client/carillon.ts';
import { codeIn } from '../fixtures/documented-example.ts';
import { type Examples, prepareExamples } from '../fixtures/examples.ts';
import { temporaryFolder } from '../fixtures/folder.ts';
import { programOf, runCommand } from '../fixtures/npm-project.ts';
import { until } from '../fixtures/until.ts';
import { documentedScript, filesIn } from './fixtures/built-site.ts';
import { describeWithSdk } from './fixtures/sdk-session.ts';
import { serve } from './fixtures/site.ts';

/** Declared by the script of the site with a log-in. */
declare const push: CarillonClient;

describeWithSdk('sites that install the npm package', (session) => {
  let examples: Examples;

  beforeAll(async () => {
    examples = await prepareExamples(session.stack, session.stack.demo);
    // npm installs the package.
  }, 240_000);

  afterAll(() => examples?.remove());

  async function open(origin: string): Promise<Page> {
    const page = await session.firefox.browser.newPage();
    session.closeLater(() => page.close());
    await page.goto(origin);
    return page;
  }

  /** Starts and opens an example, with a project of its own. */
  async function openExample(name: string) {
    const project = await session.stack.newProject();
    const { origin, stop } = await examples.start(name, project);
    session.closeLater(stop);
    return { project, origin, page: await open(origin) };
  }

  /** Waits until the page's button has this text. */
  const button = (page: Page, text: string) => page.waitForSelector(`button ::-p-text(${text})`);

  test('an empty folder, the package and the code of docs/sdk.md make a site that shows a notification', async () => {
    const { stack } = session;
    const project = await stack.newProject();
    const folder = temporaryFolder();
    session.closeLater(async () => folder.remove());
    copyFileSync(examples.tarball, join(folder.path, basename(examples.tarball)));
    const run = (command: string) =>
      runCommand('sh', ['-ec', command], {
        cwd: folder.path,
        env: { ...process.env, npm_config_offline: 'true' },
      });
    const [installTarball, copyWorker] = codeIn('docs/sdk.md', 'sh');
    for (const command of ['npm init -y', installTarball!, copyWorker!]) await run(command);
    folder.write('index.html', codeIn('docs/sdk.md', 'html')[0]!);
    folder.write('main.js', documentedScript(stack.baseUrl, project));
    await run(`node '${programOf('vite/bin/vite.js')}' build`);

    const site = await serve(filesIn(join(folder.path, 'dist')));
    session.closeLater(site.stop);
    const page = await open(site.origin);
    await page.click('button');
    await until('the subscription', async () => (await stack.subscriptions(project)).length === 1);
    const { id, delivered } = await stack.send(project, { title: 'It works' });
    expect(delivered).toBe(1);
    await stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
  });

  test('the static site subscribes and unsubscribes the browser, and says so', async () => {
    const { stack } = session;
    const site = await examples.start('static-site');
    session.closeLater(site.stop);
    const page = await open(site.origin);
    await (await button(page, 'Notify me'))!.click();
    await page.waitForSelector('[role=status] ::-p-text(Notifications are on.)');
    const { id } = await stack.send(stack.demo, { title: 'For everyone' });
    await stack.expectBeacons(stack.demo, id, { shown: 1, clicked: 0 });
    await (await button(page, 'Stop notifications'))!.click();
    await page.waitForSelector('[role=status] ::-p-text(Notifications are off.)');
    expect(await stack.subscriptions(stack.demo)).toEqual([]);
  });

  test('the React example subscribes, counts what is shown, and unsubscribes', async () => {
    const { project, page } = await openExample('react');
    const text = () => page.$eval('#root', (element) => element.textContent);
    await page.waitForSelector('#root button');
    await page.click('#root button');
    await until('the state', async () => (await text())?.includes('Subscribed as ada'));
    const { id } = await session.stack.send(project, { title: 'For React', userIds: ['ada'] });
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
    await until('the count', async () => (await text())?.includes('Shown: 1'));
    await page.click('#root button');
    await until('the end', async () => (await session.stack.subscriptions(project)).length === 0);
    expect(await text()).toContain('Not subscribed');
  });

  test('the bells of two tabs follow the subscription, and help after a block', async () => {
    const { project, page, origin } = await openExample('bell');
    const other = await open(origin);
    const toggle = '.floating >>> [role=switch]';
    const isOn = (tab: Page) => tab.$eval(toggle, (input) => (input as HTMLInputElement).checked);
    const status = () =>
      page.$eval('.floating >>> [role=status]', (element) => element.textContent);
    for (const tab of [page, other]) {
      await tab.waitForSelector('.floating:not([hidden])');
      await tab.click('.floating >>> button');
    }
    await page.click(toggle);
    for (const tab of [page, other]) await until('a switch that is on', () => isOn(tab));
    await until('the text', async () => (await status()) === 'On in this browser');
    expect(await session.stack.subscriptions(project)).toHaveLength(1);
    await other.click(toggle);
    for (const tab of [page, other]) {
      await until('a switch that is off', async () => !(await isOn(tab)));
    }
    await until('the end', async () => (await session.stack.subscriptions(project)).length === 0);

    await session.firefox.setPermission(origin, 'denied');
    await until('the help', async () =>
      (await status())?.startsWith('Notifications are blocked. Select the icon'),
    );
  });

  test('the prompt of the site comes before that of the browser, and remembers "Not now"', async () => {
    const { project, page, origin } = await openExample('bell');
    await session.firefox.setPermission(origin, 'default');
    await page.reload();
    const [accept, notNow] = ['first', 'last'].map(
      (position) => `.floating >>> section button:${position}-of-type`,
    );
    const onlyTheBell = () =>
      until('no prompt', () =>
        page.evaluate(() => document.querySelectorAll('.floating').length === 1),
      );

    await page.click('#order');
    await (await until('the prompt', () => page.$(notNow!))).click();
    await onlyTheBell();
    await page.click('#order');
    await onlyTheBell();
    await page.evaluate(() => localStorage.clear());
    await page.click('#order');
    await (await until('the prompt', () => page.$(accept!))).click();
    await session.firefox.allowNotifications();
    await until(
      'the subscription',
      async () => (await session.stack.subscriptions(project)).length === 1,
    );
    await onlyTheBell();
  });

  test('the site with a log-in gets the order status of the person who is logged in', async () => {
    const { stack } = session;
    const site = await examples.start('server-rendered');
    session.closeLater(site.stop);
    const page = await open(site.origin);
    const userIds = async () => (await stack.subscriptions(stack.demo)).map(({ userId }) => userId);
    const notifyAda = (status: string) =>
      examples.run('order-status', ['ada', '4711', status], { SITE: site.origin });

    await page.type('input[name=user]', 'ada');
    await (await button(page, 'Log in'))!.click();
    await (await button(page, 'Notify me about my orders'))!.click();
    await button(page, 'Stop notifications');
    expect(await userIds()).toEqual(['ada']);
    const claim = (user: string) =>
      page.evaluate((id) => push.identify(id, 'forged').catch(({ code }) => code), user);
    expect(await claim('bob')).toBe('user_id_signature_invalid');
    expect(await userIds()).toEqual(['ada']);
    expect(await notifyAda('shipped')).toBe('Delivered to 1 of 1 browsers of ada.\n');
    await session.firefox.clickNotification('Order 4711: shipped');
    await until('the page of the order', async () => {
      return (await session.openUrls()).includes(`${site.origin}/orders/4711`);
    });

    const devices = () =>
      page.$$eval('#devices li', (items) => items.map(({ textContent }) => textContent));
    const other = await stack.subscribe(stack.demo, 'ada');
    await page.reload();
    await (await button(page, 'Remove'))!.click();
    await until('one device', async () => (await devices()).length === 1);
    expect(await devices()).toEqual([expect.stringMatching(/last seen on .+ \(this browser\)$/)]);
    expect(await stack.subscriptions(stack.demo)).not.toContainEqual(
      expect.objectContaining({ endpoint: other.endpoint }),
    );
    // As another device does.
    await page.evaluate(async () =>
      fetch(`/devices?id=${await push.deviceId()}`, { method: 'DELETE' }),
    );
    await page.reload();
    await button(page, 'Notify me about my orders');
    expect(await page.evaluate(() => push.subscription())).toBeNull();
    await (await button(page, 'Notify me about my orders'))!.click();
    await button(page, 'Stop notifications');
    expect(await userIds()).toEqual(['ada']);

    await (await button(page, 'Log out'))!.click();
    await until('the end of the user id', async () => (await userIds())[0] === undefined);
    expect(await userIds()).toEqual([undefined]);
    expect(await notifyAda('delivered')).toBe('ada has no subscribed browser.\n');
  });
});
