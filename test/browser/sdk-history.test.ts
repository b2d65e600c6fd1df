import { randomUUID } from 'node:crypto';
import { pushMessage } from '../../contract/wire/message.ts';
import type { CarillonClient } from '../../sdk/client/carillon.ts';
import { codeIn } from '../fixtures/documented-example.ts';
import { until } from '../fixtures/until.ts';
import { passPushesTo } from './fixtures/chromium.ts';
import { registrationSettled } from './fixtures/in-page.ts';
import {
  type BrowserSession,
  describeInBrowsers,
  describeWithSdk,
} from './fixtures/sdk-session.ts';
import { storedText } from './fixtures/stored-text.ts';

/** Declared by the page's script. */
declare const push: CarillonClient;

type Session = Pick<BrowserSession, 'newSite' | 'open' | 'stack'> & { readonly name?: string };

/** A site whose pages collect the ids of what was shown, and its visitor. */
async function startVisits(session: Session, options: string) {
  const { project, site } = await session.newSite();
  const card = site.files.get('/')!;
  const visits = {
    site,
    /** A view of the page with these options, after the attempt of `init()`. */
    async view(members: string, baseUrl = session.stack.baseUrl) {
      const collecting = `<script>var shown = []; push.on('shown', ({ id }) => shown.push(id));</script>`;
      const changed = card.replace(session.stack.baseUrl, baseUrl);
      site.files.set('/', changed.replace('init({', `init({ ${members},`) + collecting);
      const { page } = await session.open(`${site.origin}/`);
      await page.evaluate(registrationSettled);
      const chromium = session.name === 'chromium' && (await passPushesTo(page));
      return {
        page,
        /** Sends to this browser, and waits until it is shown. */
        async send(title: string, { body, url }: { body?: string; url?: string } = {}) {
          const notification = { title, body, url: url ?? `${site.origin}/` };
          let id: string = randomUUID();
          if (chromium) {
            const message = pushMessage(id, notification, `${site.origin}/events`);
            await chromium.passPush(JSON.stringify(message));
          } else ({ id } = await session.stack.send(project, notification));
          await until('the notification', () =>
            page.evaluate((one) => Object(self).shown.includes(one), id),
          );
          return id;
        },
        titles: () => page.evaluate(async () => (await push.history()).map(({ title }) => title)),
        identify: (userId: string | null) => page.evaluate((id) => push.identify(id), userId),
        stored: () => storedText(page),
      };
    },
  };
  const first = await visits.view(options);
  await first.page.evaluate(async () => void (await push.subscribe()));
  return { ...visits, first };
}

describeInBrowsers('the history of notifications', (session: BrowserSession) => {
  test('is of one user, and ends with a log-out', async () => {
    const { first, view } = await startVisits(session, 'history: 50');
    await first.send('Of nobody');
    expect(await first.titles()).toEqual(['Of nobody']);
    await first.identify('ada');
    expect(await first.titles()).toEqual([]);
    await first.send('Of Ada, 1');
    const id = await first.send('Of Ada, 2', { body: 'Body' });
    expect(await first.titles()).toEqual(['Of Ada, 2', 'Of Ada, 1']);
    const [newest] = await first.page.evaluate(() => push.history());
    expect(newest).toEqual({
      ...{ id, title: 'Of Ada, 2', body: 'Body', url: first.page.url() },
      shownAt: expect.any(Number),
    });

    const second = await view("history: 50, userId: 'ada'");
    expect(await second.titles()).toHaveLength(2);
    await second.identify(null);
    expect(await second.stored()).not.toMatch(/Of Ada|Of nobody/);
    await second.send('After the log-out');
    expect(await second.titles()).toEqual([]);
    expect(await second.stored()).not.toMatch(/Of Ada|Of nobody|After the log-out/);

    await second.identify('bob');
    await second.send('Of Bob');
    expect(await second.titles()).toEqual(['Of Bob']);
    // Bob has left, and the service cannot be reached.
    const offline = await view('history: 50, userId: null', 'http://localhost:1');
    expect(await offline.titles()).toEqual([]);
    await second.page.evaluate(() => push.unsubscribe());
    expect(await second.stored()).not.toContain('Of Bob');
  });

  test('has as many as the page asks for, of 30 days', async () => {
    const { first, view } = await startVisits(session, 'history: 3');
    for (const title of ['Title 1', 'Title 2', 'Title 3', 'Title 4']) await first.send(title);
    expect(await first.titles()).toEqual(['Title 4', 'Title 3', 'Title 2']);
    await first.page.evaluate(age, 'Title 3');
    expect(await first.titles()).toEqual(['Title 4', 'Title 2']);
    const fewer = await view('history: 1');
    expect(await fewer.titles()).toEqual(['Title 4']);
    const none = await view('history: 0');
    expect(await none.titles()).toEqual([]);
    await none.send('Title 5');
    expect(await none.titles()).toEqual([]);
    expect(await none.stored()).not.toContain('Title ');
  });

  test('is shown by the list of docs/sdk.md, also what comes later', async () => {
    const { first, view } = await startVisits(session, 'history: 50');
    await first.send('Earlier');
    const code = codeIn('docs/sdk.md', 'js').find((block) => block.includes('push.history()'))!;
    const { page, send } = await view('history: 50');
    await page.evaluate(`document.body.innerHTML = '<ul id="history"></ul>'; ${code}`);
    const list = () => page.$$eval('#history a', (links) => links.map((link) => link.textContent));
    await until('the list', async () => (await list()).length === 1);
    await send('Later');
    await until('both', async () => (await list()).length === 2);
    expect(await list()).toEqual(['Later', 'Earlier']);
  });

  test('keeps nothing unless the page asks for it', async () => {
    const { first } = await startVisits(session, 'locale: null');
    await first.send('Not kept');
    expect(await first.titles()).toEqual([]);
    expect(await first.stored()).not.toContain('Not kept');
  });

  test.each([
    ['is denied', 'indexedDB.open = () => { throw new DOMException("", "SecurityError"); };'],
    [
      'is full',
      'IDBObjectStore.prototype.put = () => { throw new DOMException("", "QuotaExceededError"); };',
    ],
  ])('if the worker’s storage %s, the notification is shown', async (_, fault) => {
    const { site, first, view } = await startVisits(session, 'history: 50');
    await first.send('Kept');
    site.files.set('/carillon-sw.js', `${fault}${site.files.get('/carillon-sw.js')}`);
    await first.page.evaluate(updateWorker);
    const later = await view('history: 50');
    await later.send('Shown');
    expect(await later.titles()).toEqual(['Kept']);
  });
});

describeWithSdk('the history of notifications in Firefox', (session) => {
  test('has when one was clicked', async () => {
    const { site, first } = await startVisits(session, 'history: 50');
    site.files.set('/target', '<!doctype html><title>Target</title>');
    await first.send('Not clicked');
    await first.send('Clicked', { url: `${site.origin}/target` });
    await session.firefox.clickNotification('Clicked');
    const target = await session.open(`${site.origin}/`);
    const clicked = () =>
      target.page.evaluate(async () =>
        (await push.history()).map(({ title, shownAt, clickedAt }) => [
          title,
          clickedAt! >= shownAt,
        ]),
      );
    await until('the click', async () => (await clicked())[0]![1] === true);
    expect(await clicked()).toEqual([
      ['Clicked', true],
      ['Not clicked', false],
    ]);
  });
});

/** Moves a kept notification 31 days into the past. Runs in the page. */
function age(title: string): Promise<void> {
  return new Promise((resolve) => {
    const opening = indexedDB.open('carillon', 1);
    opening.onsuccess = () => {
      const transaction = opening.result.transaction('entries', 'readwrite');
      const entries = transaction.objectStore('entries');
      const key = `history ${location.href}`;
      const reading = entries.get(key);
      reading.onsuccess = () => {
        for (const entry of reading.result.entries) {
          if (entry.title === title) entry.shownAt -= 31 * 24 * 60 * 60 * 1000;
        }
        entries.put(reading.result, key);
      };
      transaction.oncomplete = () => {
        opening.result.close();
        resolve();
      };
    };
  });
}

/** Waits until the worker's new file is active. Runs in the page. */
async function updateWorker(): Promise<void> {
  const registration = (await navigator.serviceWorker.getRegistration())!;
  const earlier = registration.active;
  await registration.update();
  while (registration.active === earlier || registration.active!.state !== 'activated') {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
