import { randomBytes } from 'node:crypto';
import type { Page } from 'puppeteer-core';
import { describeWith } from '../browser/fixtures/browsers.ts';
import { type Firefox, launchFirefox } from '../browser/fixtures/firefox.ts';
import {
  type BrowserStack,
  startBrowserStack,
  type TestProject,
} from '../browser/fixtures/stack.ts';
import { until } from '../fixtures/until.ts';
import { phpOf } from './fixtures/announced-site.ts';
import { builtPlugin } from './fixtures/built-plugin.ts';
import {
  describeWithWordPress,
  startDatabase,
  startWordPress,
  type WordPress,
  type WordPressOptions,
} from './fixtures/wordpress.ts';

/** Folder for pictures. Default: none are taken. */
const { PICTURES } = process.env;

const bell = '.floating >>> button[aria-expanded]';
const toggle = '.floating >>> [role=switch]';
const bellStatus = '.floating >>> [role=status]';
const findings = '#carillon-findings';
const settingsPage = '/wp-admin/options-general.php?page=carillon';

describeWithWordPress('WordPress', () => {
  describeWith('firefox', 'in Firefox', (executablePath) => {
    let database: Awaited<ReturnType<typeof startDatabase>>;
    let stack: BrowserStack;
    let firefox: Firefox;
    let site: WordPress;
    const sites: WordPress[] = [];
    const pages: Page[] = [];

    beforeAll(async () => {
      [database, stack] = await Promise.all([startDatabase(), startBrowserStack()]);
      const pushService = stack.pushService.origin;
      firefox = await launchFirefox({ executablePath, pushService, permission: 'default' });
      site = await start();
    });
    afterEach(async () => {
      await Promise.all(pages.splice(0).map((page) => page.close()));
      await firefox.closeNotifications();
    });
    afterAll(async () => {
      await firefox?.close();
      const errors = sites.map((one) => one.errors()).join('');
      for (const one of sites) await one.stop();
      await database?.stop();
      await stack?.stop();
      expect(errors).toBe('');
    });

    async function start(options: WordPressOptions = {}): Promise<WordPress> {
      const started = await startWordPress(database, await builtPlugin(), options);
      sites.push(started);
      return started;
    }

    async function open(url: string): Promise<Page> {
      const page = await firefox.browser.newPage();
      pages.push(page);
      await page.setViewport({ width: 1280, height: 900 });
      await page.goto(url);
      return page;
    }

    async function openAsAdmin(path: string, of = site): Promise<Page> {
      const { cookies } = await of.signIn();
      const { hostname } = new URL(of.home);
      await firefox.browser.setCookie(
        ...[...cookies].map(([name, value]) => ({ name, value, domain: hostname, path: '/' })),
      );
      return open(of.home + path);
    }

    async function picture(page: Page, name: string): Promise<void> {
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png` });
    }

    const memberKey = async ({ projectId }: TestProject, role: 'sender' | 'viewer' = 'sender') =>
      (
        await stack.registry.invite(projectId, {
          ...{ name: role, role, lifetimeMs: undefined, random: randomBytes },
        })
      ).key;

    /** Sets the plugin up without a form. */
    async function setUp(
      of: WordPress,
      settings: object = {},
      role: 'sender' | 'viewer' | 'owner' = 'sender',
      given?: TestProject,
    ): Promise<TestProject> {
      const project = given ?? (await stack.newProject());
      const key = role === 'owner' ? project.secretKey : await memberKey(project, role);
      await of.php(`
        delete_option('carillon');
        Carillon\\change_settings(${phpOf({ baseUrl: stack.baseUrl, project: project.projectId, ...settings })});
        update_option('carillon_key', '${key}', false);
        Carillon\\refresh();`);
      return project;
    }

    /** Empty while there is no such element. */
    const textOf = (page: Page, selector: string) =>
      page.$eval(selector, (element) => element.textContent?.trim() ?? '').catch(() => '');

    /** Turns notifications on with the bell. */
    async function subscribe(page: Page, asks: boolean): Promise<void> {
      await page.locator(bell).click();
      await page.locator(toggle).click();
      if (asks) await firefox.allowNotifications();
      await until('the subscription', async () =>
        (await textOf(page, bellStatus)).startsWith('On'),
      );
    }

    const registrations = (page: Page) =>
      page.evaluate(async () =>
        (await navigator.serviceWorker.getRegistrations()).map(({ active, scope }) => ({
          script: active?.scriptURL.replace(location.origin, ''),
          scope: scope.replace(location.origin, ''),
        })),
      );

    test('is set up, subscribes a visitor, and announces a post of the block editor to her', async () => {
      const project = await stack.newProject();
      const settings = await openAsAdmin(settingsPage);
      await settings.type('#baseUrl', `${stack.baseUrl}/`);
      await settings.type('#project', project.projectId);
      await settings.type('#key', await memberKey(project));
      await Promise.all([settings.waitForNavigation(), settings.click('#submit')]);
      expect(await textOf(settings, findings)).toBe(
        `Settings saved.Connected to the project “${project.projectId}”, which has 0 subscribers.`,
      );
      expect(await settings.content()).not.toContain('carillon_mk_');
      await picture(settings, 'settings');

      const visitor = await open(`${site.home}/`);
      await subscribe(visitor, true);
      await picture(visitor, 'bell');
      expect(await registrations(visitor)).toEqual([{ script: '/?carillon-sw.js', scope: '/' }]);

      const editor = await openAsAdmin('/wp-admin/post-new.php');
      await editor.waitForFunction(() =>
        Reflect.get(window, 'wp')?.data?.select('core/editor')?.getCurrentPostAttribute('carillon'),
      );
      await editor.evaluate(() => {
        const { dispatch } = Reflect.get(window, 'wp').data;
        dispatch('core/preferences').set('core/edit-post', 'welcomeGuide', false);
        dispatch('core/editor').editPost({ title: 'Storm hits the coast' });
      });
      await editor.locator('.editor-post-publish-panel__toggle').click();
      const panel = '.editor-post-publish-panel';
      await until('the panel', async () =>
        /It will be announced/.test(await textOf(editor, panel)),
      );
      await picture(editor, 'editor-before');
      await editor.locator(`${panel} .editor-post-publish-button`).click();
      await until('the counts', async () => /Announced to 1\./.test(await textOf(editor, panel)));
      await picture(editor, 'editor-after');

      await firefox.clickNotification('Storm hits the coast');
      const url = await until('the post', async () =>
        (await firefox.browser.pages()).map((page) => page.url()).find((one) => /storm/.test(one)),
      );
      expect(url).toMatch(/\/\d+\/\d+\/\d+\/storm-hits-the-coast\/$/);
      const [, id] = /"id";s:\d+:"([^"]+)"/.exec(
        await site.php<string>(
          `global $wpdb; return $wpdb->get_var("select meta_value from $wpdb->postmeta where meta_key = '_carillon'");`,
        ),
      )!;
      await stack.expectBeacons(project, id!, { shown: 1, clicked: 1 });
    });

    test('tries itself out: the browser of who sets it up gets a notification', async () => {
      const project = await setUp(site);
      await firefox.setPermission(site.home, 'granted');
      const page = await openAsAdmin(settingsPage);
      await page.locator('#carillon-try').click();
      await until('the result', async () => /has arrived/.test(await textOf(page, findings)));
      expect(await firefox.shownTitles()).toContain('Daily News');
      // It is a subscriber as every other one from then on.
      expect(await stack.subscriptions(project)).toMatchObject([{ userId: undefined }]);
    });

    test.each([
      ['the key of a viewer', 'viewer', /may only read/],
      ['the secret key', 'owner', /This is the secret key .* use that one/],
    ] as const)('says what is wrong with %s', async (_, role, text) => {
      await setUp(site, {}, role);
      const page = await openAsAdmin(settingsPage);
      await page.locator('#carillon-try').click();
      await until('the result', async () => text.test(await textOf(page, findings)));
    });

    test('names another service worker of the site, and what to add to it', async () => {
      await setUp(site);
      site.write('plugins/sw.js', 'self.addEventListener("fetch", () => {});');
      site.write('../sw.js', 'self.addEventListener("fetch", () => {});');
      const visitor = await open(`${site.home}/wp-login.php`);
      await visitor.evaluate(async () => {
        for (const one of await navigator.serviceWorker.getRegistrations()) await one.unregister();
        await navigator.serviceWorker.register('/sw.js');
        await navigator.serviceWorker.ready;
      });
      const page = await openAsAdmin(settingsPage);
      await until('the advice', async () => /already has/.test(await textOf(page, findings)));
      expect(await textOf(page, findings)).toContain(`${site.home}/sw.js`);
      expect(await textOf(page, findings)).toContain(
        `importScripts('${site.home}/?carillon-sw.js');`,
      );
    });

    test('in a folder, without permalinks, a visitor chooses categories', async () => {
      const blog = await start({ folder: '/blog' });
      const sport = await blog.php<number>(`
        update_option('permalink_structure', '');
        require_once ABSPATH . 'wp-admin/includes/taxonomy.php';
        wp_create_category('Politics & more');
        return wp_create_category('Sport');`);
      const project = await setUp(blog, { categories: [sport, sport - 1] });
      await firefox.setPermission(blog.home.replace('/blog', ''), 'granted');
      const visitor = await open(`${blog.home}/`);
      await subscribe(visitor, false);
      expect(await registrations(visitor)).toEqual([
        { script: '/blog/?carillon-sw.js', scope: '/blog/' },
      ]);
      expect(await textOf(visitor, '.floating >>> [role=group]')).toBe(
        'What to receivePolitics & moreSport',
      );
      const all = [`category-${sport - 1}`, `category-${sport}`];
      expect((await stack.subscriptions(project))[0]!.channels?.toSorted()).toEqual(all);
      await visitor.locator(`.floating >>> input[value="category-${sport - 1}"]`).click();
      await until(
        'the choice',
        async () => (await stack.subscriptions(project))[0]?.channels?.length === 1,
      );

      const publish = (category: number, title: string) =>
        blog.php(
          `return wp_insert_post(['post_title' => '${title}', 'post_status' => 'publish', 'post_category' => [${category}]]);`,
        );
      await publish(sport - 1, 'Elections');
      const id = await publish(sport, 'Final');
      await until('the notification', async () => {
        await blog.runCron();
        return (await firefox.shownTitles()).includes('Final');
      });
      expect(await firefox.shownTitles()).toEqual(['Final']);
      await firefox.clickNotification('Final');
      await until('the post', async () =>
        (await firefox.browser.pages()).some((one) => one.url() === `${blog.home}/?p=${id}`),
      );
    });

    describe('a site that moves from another plugin', () => {
      const oldScope =
        '/wp-content/plugins/onesignal-free-web-push-notifications/sdk_files/push/onesignal/';
      const oldWorkers = [
        [
          'OneSignal',
          '/wp-content/plugins/onesignal-free-web-push-notifications/sdk_files/OneSignalSDKWorker.js',
          oldScope,
        ],
        [
          'OneSignal, before',
          '/wp-content/plugins/onesignal-free-web-push-notifications/sdk_files/OneSignalSDKWorker.js.php',
          '/',
        ],
        [
          'Perfecty',
          '/wp-content/plugins/perfecty-push-notifications/public/js/service-worker-loader.js.php',
          '/perfecty/push',
        ],
      ] as const;

      /** A site with the worker of the other plugin, and a browser that is subscribed through it. */
      async function oldSite(file: string, scope: string, applicationServerKey: string) {
        const headers = `header('Service-Worker-Allowed: /'); header('Content-Type: text/javascript');`;
        site.write(`../${file}`, file.endsWith('.php') ? `<?php ${headers}` : '');
        await firefox.setPermission(site.home, 'granted');
        // Not a page that the plugin changes.
        const page = await open(`${site.home}/wp-login.php`);
        await page.evaluate(forgetEverything);
        const subscription = await page.evaluate(subscribeAt, file, scope, applicationServerKey);
        return { page, subscription };
      }

      test.each(oldWorkers)(
        '%s: a visitor is subscribed without a question',
        async (_, ...worker) => {
          const { applicationServerKey } = await stack.newProject();
          await oldSite(...worker, applicationServerKey);
          const project = await setUp(site, { moving: true });
          const page = await open(`${site.home}/`);
          await until(
            'the subscription',
            async () => (await stack.subscriptions(project)).length === 1,
          );
          await until('the end of the old worker', async () => {
            const [only, ...others] = await registrations(page);
            return only?.script === '/?carillon-sw.js' && only.scope === '/' && others.length === 0;
          });

          // Who turns notifications off is left alone.
          await page.locator(bell).click();
          await page.locator(toggle).click();
          await until('the end', async () => (await stack.subscriptions(project)).length === 0);
          const again = await open(`${site.home}/`);
          await until('the bell', async () => /^Off/.test(await textOf(again, bellStatus)));
          expect(await stack.subscriptions(project)).toEqual([]);
        },
      );

      test('a browser that does not visit gets its worker at the URL of a plugin that was deleted', async () => {
        const [, file, scope] = oldWorkers[2];
        const project = await stack.newProject();
        const { page, subscription } = await oldSite(file, scope, project.applicationServerKey);
        // As an import of the other plugin's list does.
        await fetch(`${stack.baseUrl}/api/v1/projects/${project.projectId}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(subscription),
        });
        await setUp(site, { moving: true }, 'sender', project);
        site.remove(`../${file}`);
        await page.evaluate(updateWorker, scope);
        await site.php(`wp_insert_post(['post_title' => 'Moved', 'post_status' => 'publish']);`);
        await site.runCron();
        await firefox.clickNotification('Moved');
        await until('the post', async () =>
          (await firefox.browser.pages()).some((one) => /\/moved\/$/.test(one.url())),
        );
      });
    });
  });
});

/** Runs in a page: the browser then knows nothing of the site but its permission. */
async function forgetEverything(): Promise<void> {
  for (const one of await navigator.serviceWorker.getRegistrations()) await one.unregister();
  for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name!);
  localStorage.clear();
}

/** What a browser does two days later, or a day after a push. Runs in the page. */
async function updateWorker(scope: string): Promise<void> {
  const registration = (await navigator.serviceWorker.getRegistration(scope))!;
  const updated = (await registration.update()) as unknown as ServiceWorkerRegistration;
  const worker = updated.installing ?? updated.waiting;
  await new Promise<void>((resolve) => {
    if (!worker || worker.state === 'activated') resolve();
    else worker.onstatechange = () => worker.state === 'activated' && resolve();
  });
}

/** Subscribes this browser as another plugin does. Runs in the page. */
async function subscribeAt(file: string, scope: string, applicationServerKey: string) {
  const registration = await navigator.serviceWorker.register(file, { scope });
  const worker = registration.installing!;
  await new Promise<void>((resolve) => {
    worker.onstatechange = () => worker.state === 'activated' && resolve();
  });
  const { pushManager } = registration;
  return (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey })).toJSON();
}
