import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCarillon } from '../../admin/commands/run.ts';
import { newVapidPair } from '../../admin/vapid-pair.ts';
import type { OldWorkerName } from '../../contract/wire/message.ts';
import { stateOf, writeState } from '../../local/state-file.ts';
import { bundleSdk } from '../../sdk/build/bundle.ts';
import { temporaryFolder } from '../fixtures/folder.ts';
import { testTerminal } from '../fixtures/terminal.ts';
import { until } from '../fixtures/until.ts';
import { describeWith } from './fixtures/browsers.ts';
import { type Firefox, launchFirefox } from './fixtures/firefox.ts';
import { type Site, serve } from './fixtures/site.ts';
import { type BrowserStack, startBrowserStack, type TestProject } from './fixtures/stack.ts';

/**
 * Profiles that move from each old worker. Starting a browser takes seconds: by default, one moves from each of two
 * workers. `PROFILES=4` moves 20, four from each of five.
 */
const profileCount = Number(process.env.PROFILES ?? 1);
const testMs = 60_000 * (1 + profileCount);

/** A site with the service worker of another service. */
interface OldSite {
  readonly file: string;
  readonly scope: string;
  /** What the worker shows of a message `m`: the arguments of `showNotification`, or nothing. */
  readonly shows: string;
  /** What replaces the file. */
  readonly replacedBy: 'copy' | 'import';
}

/** Stand-ins that read messages as the workers of these services do. */
const oldSites: Readonly<Record<OldWorkerName, OldSite>> = {
  onesignal: {
    file: '/OneSignalSDKWorker.js',
    scope: '/',
    shows: 'typeof m.custom?.i === "string" && [m.title, { body: m.alert, icon: m.icon }]',
    replacedBy: 'copy',
  },
  perfecty: {
    file: '/plugins/perfecty/worker.js',
    scope: '/plugins/perfecty/',
    shows: 'typeof m.extra === "object" && [m.title, { body: m.body, icon: m.icon }]',
    replacedBy: 'import',
  },
  pusher: {
    file: '/service-worker.js',
    scope: '/',
    shows: 'm.data?.pusher && [m.notification.title, { body: m.notification.body }]',
    replacedBy: 'import',
  },
  firebase: {
    file: '/firebase-messaging-sw.js',
    scope: '/firebase-cloud-messaging-push-scope',
    shows: 'm.notification && [m.notification.title, m.notification]',
    replacedBy: 'copy',
  },
  flat: {
    file: '/sw.js',
    scope: '/',
    shows: '[m.title ?? "New message", { body: m.body }]',
    replacedBy: 'copy',
  },
};

const tested = process.env.PROFILES ? Object.keys(oldSites) : ['onesignal', 'perfecty'];

const oldWorker = ({ shows }: OldSite) => `
  self.addEventListener('push', (event) => {
    const m = event.data.json();
    const shown = ${shows};
    if (shown) event.waitUntil(self.registration.showNotification(...shown));
  });`;

const twoDaysMicroseconds = 2n * 24n * 60n * 60n * 1_000_000n;

/** The files of a site, and which of them browsers have asked for. */
class Files extends Map<string, string> {
  readonly requested: string[] = [];

  override get(path: string): string | undefined {
    this.requested.push(path);
    return super.get(path);
  }
}

describeWith('firefox', 'browsers that never visit, after a move', (executablePath) => {
  let stack: BrowserStack;
  let carillonWorker: string;
  let folder: ReturnType<typeof temporaryFolder>;
  let files: Files;
  let site: Site;
  let profiles: readonly string[];
  let firefoxes: readonly Firefox[] = [];

  beforeAll(async () => {
    stack = await startBrowserStack();
    const bundles = await bundleSdk(process.cwd());
    const { contents } = bundles.find(({ name }) => name === 'carillon-sw.js')!;
    carillonWorker = Buffer.from(contents).toString();
  });
  afterAll(() => stack?.stop());
  beforeEach(async () => {
    folder = temporaryFolder();
    profiles = Array.from({ length: profileCount }, (_, index) => join(folder.path, `${index}`));
    files = new Files([['/', '<!doctype html>']]);
    site = await serve(files);
  });
  afterEach(async () => {
    await closeBrowsers();
    await site.stop();
    folder.remove();
  });

  async function openBrowsers(): Promise<void> {
    const options = { executablePath, pushService: stack.pushService.origin };
    const opening = profiles.map((profile) =>
      launchFirefox({ ...options, permission: 'default', profile }),
    );
    firefoxes = await Promise.all(opening);
  }

  async function closeBrowsers(): Promise<void> {
    await Promise.all(firefoxes.map((firefox) => firefox.close()));
    firefoxes = [];
  }

  /** Starts the browsers again, for which two days have passed since they looked for another worker. */
  async function twoDaysLater(): Promise<void> {
    await closeBrowsers();
    for (const profile of profiles) {
      const file = join(profile, 'serviceworker.txt');
      const earlier = (time: string) => String(BigInt(time) - twoDaysMicroseconds);
      writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d{16}$/gm, earlier));
    }
    await openBrowsers();
  }

  /** One visit, with a subscription under the old key and the old worker. @returns the subscription. */
  async function visit(firefox: Firefox, oldSite: OldSite, applicationServerKey: string) {
    await firefox.setPermission(site.origin, 'granted');
    const page = await firefox.browser.newPage();
    await page.goto(site.origin);
    const subscription = await page.evaluate(
      async ({ file, scope }, key) => {
        const { installing, pushManager } = await navigator.serviceWorker.register(file, { scope });
        await new Promise<void>((resolve) => {
          installing!.onstatechange = () => installing!.state === 'activated' && resolve();
        });
        return (await pushManager.subscribe({ applicationServerKey: key })).toJSON();
      },
      oldSite,
      applicationServerKey,
    );
    // An answer of the new tab: Firefox ends without its last one.
    await firefox.browser.newPage();
    await page.close();
    return subscription;
  }

  async function carillon(...args: readonly string[]): Promise<void> {
    const terminal = testTerminal();
    const stateFile = join(folder.path, 'local.json');
    const code = await runCarillon([...args, '--local'], terminal, stateFile);
    expect([code, terminal.written().messages]).toEqual([0, '']);
  }

  /** A project with the old pair and the subscriptions of all profiles, which have visited the old site once. */
  async function moved(oldSite: OldSite, settings: readonly string[]): Promise<TestProject> {
    files.set(oldSite.file, oldWorker(oldSite));
    await openBrowsers();
    const vapid = newVapidPair();
    const list = await Promise.all(
      firefoxes.map((firefox) => visit(firefox, oldSite, vapid.publicKey)),
    );
    const projectId = `moved-${randomUUID()}`;
    const state = { ...{ projectId, applicationServerKey: '', secretKey: '', identityKey: '' } };
    await writeState(stateOf(stack, state), join(folder.path, 'local.json'));
    const created = await stack.registry.create({ projectId, vapid, random: randomBytes });
    await carillon(
      'subscriptions',
      'import',
      projectId,
      folder.write('list.json', JSON.stringify(list)),
    );
    if (settings.length > 0) await carillon('set', projectId, ...settings);
    const { project, ...keys } = created;
    return { projectId, ref: project.ref, applicationServerKey: vapid.publicKey, vapid, ...keys };
  }

  /** Sends, and waits until every browser shows it, each once. @returns the id. */
  async function sendAndSee(project: TestProject, title: string): Promise<string> {
    const { id, delivered } = await stack.send(project, { title });
    expect(delivered).toBe(profileCount);
    for (const firefox of firefoxes) {
      await until(`the notification "${title}"`, async () =>
        (await firefox.shownTitles()).includes(title),
      );
      const titles = await firefox.shownTitles();
      expect(titles).toEqual([...new Set(titles)]);
    }
    return id;
  }

  const activeWorkers = async () =>
    (await Promise.all(firefoxes.map((firefox) => firefox.activeWorkers()))).flat();

  const until60Days = new Date(Date.now() + 60 * 24 * 60 * 60_000).toISOString().slice(0, 10);

  test.each(tested)(
    'see every message once, without a prompt: from the worker of %s to Carillon’s at its URL',
    async (name) => {
      const oldSite = oldSites[name as OldWorkerName];
      const project = await moved(oldSite, ['--old-worker', name, '--until', until60Days]);
      await sendAndSee(project, 'First');

      files.set('/carillon-sw.js', carillonWorker);
      const imported = "importScripts('/carillon-sw.js?takeover');";
      files.set(oldSite.file, oldSite.replacedBy === 'copy' ? carillonWorker : imported);
      await twoDaysLater();
      const before = await activeWorkers();
      const second = await sendAndSee(project, 'Second');
      await until('the new worker in every browser', async () => {
        const after = await activeWorkers();
        return after.length === profileCount && after.every((worker) => !before.includes(worker));
      });
      const third = await sendAndSee(project, 'Third');
      await stack.expectBeacons(project, second, { shown: 0, clicked: 0 });
      await stack.expectBeacons(project, third, { shown: profileCount, clicked: 0 });
    },
    testMs,
  );

  test(
    'see nothing, and keep the old worker, if its file is gone',
    async () => {
      const oldSite = oldSites.onesignal;
      const project = await moved(oldSite, []);
      files.delete(oldSite.file);
      files.set('/carillon-sw.js', carillonWorker);
      await twoDaysLater();
      const before = await activeWorkers();
      files.requested.length = 0;
      const { delivered, id } = await stack.send(project, { title: 'Lost' });
      expect(delivered).toBe(profileCount);
      // A browser looks for another worker when this one has handled the message.
      const looks = () => files.requested.filter((path) => path === oldSite.file).length;
      await until('the look for another worker', () => looks() === profileCount);
      for (const firefox of firefoxes) expect(await firefox.shownTitles()).toEqual([]);
      expect(await activeWorkers()).toEqual(before);
      await stack.expectBeacons(project, id, { shown: 0, clicked: 0 });
    },
    testMs,
  );
});
