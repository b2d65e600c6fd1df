import { randomBytes } from 'node:crypto';
import type { Browser, HTTPRequest, Page } from 'puppeteer-core';
import { until } from '../fixtures/until.ts';
import { describeWith } from './fixtures/browsers.ts';
import { launchChromium } from './fixtures/chromium.ts';
import { type ConsolePage, openConsole } from './fixtures/console-page.ts';
import {
  type FaultyGateway,
  faults,
  type GatewayFault,
  startFaultyGateway,
} from './fixtures/faulty-gateway.ts';
import { type BrowserStack, startBrowserStack, type TestProject } from './fixtures/stack.ts';
import { storedText } from './fixtures/stored-text.ts';

describeWith('chromium', 'drafts of the console', (executablePath) => {
  let stack: BrowserStack;
  let browser: Browser;
  let gateway: FaultyGateway;
  let project: TestProject;
  let tab: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    stack = await startBrowserStack();
    browser = await launchChromium(executablePath);
    gateway = await startFaultyGateway(stack.baseUrl);
  });

  beforeEach(async () => {
    gateway.fault = undefined;
    project = await stack.newProject(undefined, { rateLimitPerMinute: 1000 });
    await stack.subscribe(project, 'ada', ['news']);
    tab = await openConsole(browser, `${gateway.origin}/console`);
    ({ page } = tab);
  });

  afterEach(() => page.close());

  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
    await stack?.stop();
  });

  const title = 'Doors open';
  const stored = async () => (await stack.notifications(project)).map((one) => one.title);
  /** Waits until no request to send is under way. */
  const settled = () => page.waitForFunction(() => !document.querySelector('[data-loading]'));
  const view = (name: string) => tab.go(`#/projects/${project.projectId}${name}`);
  const fieldText = (selector: string) =>
    page.$eval(selector, (input) => (input as HTMLInputElement).value);
  const has = (selector: string) => page.$(selector).then((element) => element !== null);

  async function write() {
    await tab.openView(project, '/send');
    await tab.type('Title', title);
    await tab.expectText('aside', 'of 1 subscriber');
  }
  async function sendOnce() {
    await tab.click('button', 'Send to 1');
    await tab.confirm();
  }

  /** What somebody does who does not know what became of it. Each ends with the outcome, found out. */
  const ways: Readonly<Record<string, () => Promise<void>>> = {
    'Find out': () => tab.click('button', 'Find out'),
    'Find out, twice': async () => {
      gateway.fault = 'the response is lost';
      await tab.click('button', 'Find out');
      await settled();
      await tab.expectText('#doubt', 'No response from Carillon.');
      gateway.fault = undefined;
      await tab.click('button', 'Find out');
    },
    'look under Notifications, come back, Find out': async () => {
      await tab.click('link', 'Look under Notifications');
      await tab.expectView('Notifications');
      await tab.click('link', 'New notification');
      await tab.click('button', 'Find out');
    },
    'reload, sign in again, Find out': async () => {
      await tab.openView(project, '/send');
      await tab.click('button', 'Find out');
    },
    'Edit…, Cancel, Enter in a field, Find out': async () => {
      await tab.click('button', 'Edit…');
      await tab.expectText('dialog[open]', 'Everyone may have “Doors open” already');
      await page.keyboard.press('Escape');
      await page.evaluate(() => {
        document.querySelector<HTMLFormElement>('main form')!.requestSubmit();
      });
      await tab.click('button', 'Find out');
    },
    'Discard, Cancel, Back, Forward, Find out': async () => {
      await tab.click('button', 'Discard');
      await tab.expectText('dialog[open]', 'Everyone may have “Doors open” already');
      await page.keyboard.press('Escape');
      await view('/settings');
      await tab.expectView('Settings');
      await page.goBack();
      await tab.click('button', 'Find out');
    },
  };

  // Each fault with each way takes seven minutes: `DOUBLES=all`. By default each fault, and each way, is tried.
  const faultNames = Object.keys(faults) as GatewayFault[];
  const pairs = faultNames.flatMap((fault, index) =>
    Object.keys(ways)
      .filter((_, way) => process.env.DOUBLES || index === 0 || way === index % 6)
      .map((way) => [fault, way] as const),
  );
  test.each(pairs)('%s; %s: one notification is stored', async (fault, way) => {
    await write();
    gateway.fault = fault;
    await sendOnce();
    await tab.expectText('#doubt', 'It may have gone out');
    await tab.expectText('#doubt', 'Everyone may have “Doors open” already');
    gateway.fault = undefined;
    await ways[way]!();
    await tab.expectView(title);
    expect(await stored()).toEqual([title]);
    // Found out, it is forgotten.
    await view('/send');
    await tab.expectView('New notification');
    expect(await has('#doubt')).toBe(false);
    expect(await fieldText('#send-title')).toBe('');
  });

  test.each([1, 2, 3])(
    'whatever is clicked, at most one notification is stored, unless somebody says “again”: seed %i',
    async (seed) => {
      const next = random(seed);
      const drawn = <Value>(values: readonly Value[]) =>
        values[Math.floor(next() * values.length)]!;
      await write();
      gateway.fault = drawn(faultNames);
      await sendOnce();
      const clicks: string[] = [];
      for (let step = 0; step < 60; step++) {
        gateway.fault = drawn([...faultNames, undefined]);
        const names = await page.evaluate(findClickable);
        const sending = names.filter((name) => /^Send|Find out|New notification/.test(name));
        const name = drawn(sending.length > 0 && next() < 0.5 ? sending : names);
        if (name === undefined) {
          await tab.openView(project, '/send');
          continue;
        }
        clicks.push(name);
        await page.evaluate(clickOn, name);
        if (next() < 0.1) await page.goBack().catch(() => {});
        if (next() < 0.05) await tab.openView(project, '/send');
        expect([clicks, (await stored()).length <= 1]).toEqual([clicks, true]);
      }
      gateway.fault = undefined;
      await tab.openView(project, '/send');
      await tab.expectView('New notification');
      if (await has('#doubt')) {
        await tab.click('button', 'Find out');
        await tab.expectView(title);
      }
      expect((await stored()).length).toBeLessThanOrEqual(1);
    },
  );

  test('who edits a draft that may have gone out says again to a sentence that names who may have it', async () => {
    await write();
    gateway.fault = 'the response is lost';
    await sendOnce();
    await tab.click('button', 'Edit…');
    await tab.expectText('dialog[open]', 'Everyone may have “Doors open” already');
    await tab.confirm();
    gateway.fault = undefined;
    await tab.type('Title', 'Doors open at eight');
    await tab.expectText('aside', 'Everyone may have “Doors open” already.');
    await tab.click('button', 'Send to 1');
    await tab.expectText('dialog[open]', 'Send again to 1 subscriber?');
    await tab.expectText(
      'dialog[open]',
      'Everyone may have “Doors open” already. Who has it may get it again.',
    );
    await tab.confirm();
    await tab.expectView('Doors open at eight');
    expect(await stored()).toEqual(['Doors open at eight', title]);
  });

  test('after a day nobody can find out: it is edited, to be sent again', async () => {
    await write();
    gateway.fault = 'the response is lost';
    await sendOnce();
    await tab.expectText('#doubt', 'It may have gone out');
    await page.evaluateOnNewDocument(() => {
      const { now } = Date;
      Date.now = () => now() + 24 * 60 * 60_000;
    });
    await tab.openView(project, '/send');
    await tab.expectText('#doubt', 'Carillon remembers a request for a day');
    expect(await page.$$eval('#doubt button', (all) => all.map((one) => one.textContent))).toEqual([
      'Edit…',
    ]);
  });

  /** Responds to requests to send as the service does, one after the other. Later ones reach it. */
  async function responding(...responses: readonly (readonly [status: number, code: string])[]) {
    const keys: (string | undefined)[] = [];
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (request.method() !== 'POST') return request.continue();
      const [status, code] = responses[keys.push(request.headers()['idempotency-key']) - 1] ?? [];
      if (status === undefined) return request.continue();
      const body = JSON.stringify({ error: { code, message: 'Of the service.' } });
      return request.respond({ status, headers: { 'retry-after': '1' }, body });
    });
    return keys;
  }

  test.each([
    // Nothing is stored under the key.
    ['the service refuses it', 'rate_limited', 429, [0, 1, 2]],
    // It may be: a new key would leave a second notification, and take another unit of the month.
    ['nobody was attempted', 'unavailable', 503, [0, 0, 0]],
  ] as const)('if %s, the draft can be edited and sent', async (_, code, status, expected) => {
    await write();
    const keys = await responding([status, code], [status, code]);
    for (let attempts = 0; attempts < 2; attempts++) {
      await sendOnce();
      await tab.expectText('aside .test-result', 'Nothing was sent.');
      expect(await has('#doubt')).toBe(false);
    }
    await sendOnce();
    await tab.expectView(title);
    expect(keys.map((key) => [...new Set(keys)].indexOf(key))).toEqual(expected);
    expect(await stored()).toEqual([title]);
  });

  test('a draft that was edited after a 503 has another key: a key belongs to one body', async () => {
    await write();
    const keys = await responding([503, 'unavailable']);
    await sendOnce();
    await tab.expectText('aside .test-result', 'Nothing was sent.');
    await tab.type('Title', 'Doors open at eight');
    await sendOnce();
    await tab.expectView('Doors open at eight');
    expect(new Set(keys).size).toBe(2);
  });

  test('a send whose outcome the service does not know is locked until the service knows it', async () => {
    await write();
    const inProgress = Array.from({ length: 5 }, () => [409, 'request_in_progress'] as const);
    const keys = await responding([500, 'outcome_unknown'], ...inProgress);
    await sendOnce();
    await tab.expectText('#doubt', 'Carillon has begun to send it, and does not know yet who has');
    await tab.click('button', 'Find out');
    await tab.expectText('#doubt', 'Carillon still works on it.');
    await tab.click('button', 'Find out');
    await tab.expectView(title);
    expect([keys.length, new Set(keys).size]).toEqual([7, 1]);
    expect(await stored()).toEqual([title]);
  });

  /** A second tab, as browsers duplicate one. */
  async function duplicate() {
    const copied = await page.evaluate(() => ({ ...sessionStorage }));
    const other = await openConsole(browser, `${gateway.origin}/console`);
    await other.page.evaluateOnNewDocument((entries) => {
      for (const [name, value] of Object.entries(entries)) sessionStorage.setItem(name, value);
    }, copied);
    await other.openView(project, '/send');
    return other;
  }

  test('who has edited a draft in a second tab is told that the first one has sent it', async () => {
    await write();
    const other = await duplicate();
    await page.bringToFront();
    await sendOnce();
    await tab.expectView(title);
    await other.page.bringToFront();
    await other.type('Title', 'Doors open at eight');
    await other.click('button', 'Send to 1');
    await other.confirm();
    const failure = 'aside [role=alert]';
    await other.expectText(
      failure,
      'Another tab has sent a copy of this draft, with another text.',
    );
    await other.expectText(failure, 'This one has not gone out.');
    expect(await other.page.$('#doubt')).toBeNull();
    expect(await stored()).toEqual([title]);
    // It can be sent, by somebody who knows of the copy.
    await other.click('button', 'Send to 1');
    await other.expectText('dialog[open]', 'Send again to 1 subscriber?');
    await other.expectText('dialog[open]', 'A copy of this draft has gone out from another tab.');
    await other.confirm();
    await other.expectView('Doors open at eight');
    await other.page.close();
    expect(await stored()).toEqual(['Doors open at eight', title]);
  });

  test('a draft in two tabs goes out once', async () => {
    await write();
    const other = await duplicate();
    for (const one of [tab, other]) {
      await one.page.bringToFront();
      // In front again, a tab reads the list. A line about it may move the button away from the click.
      await until('the question', async () => {
        await one.click('button', 'Send to 1');
        return one.page.waitForSelector('dialog[open]', { timeout: 2000 }).catch(() => undefined);
      });
      await one.expectReady();
      // A tab that read the list since knows it already.
      const isKnown = (await one.page.$('dialog[open] ::-p-text(went out on)')) !== null;
      if (one === other && !isKnown) {
        await one.confirm();
        await one.expectText('dialog[open]', '“Doors open” went out on');
      }
      await one.confirm();
      await one.expectView(title);
    }
    await other.page.close();
    expect(await stored()).toEqual([title]);
  });

  test('a draft survives views, a reload and a key that ends, and nobody else sees it', async () => {
    const invite = (name: string) =>
      stack.registry.invite(project.projectId, { name, role: 'sender', random: randomBytes });
    const ann = { ...project, secretKey: (await invite('Ann')).key };
    const bob = { ...project, secretKey: (await invite('Bob')).key };
    const titleOf = async (who: TestProject) => {
      await tab.openView(who, '/send');
      await tab.expectView('New notification');
      return fieldText('#send-title');
    };
    await tab.openView(ann, '/send');
    await tab.type('Title', 'By Ann');
    await view('/settings');
    await tab.expectView('Settings');
    await page.goBack();
    await tab.expectView('New notification');
    expect(await fieldText('#send-title')).toBe('By Ann');
    expect(await titleOf(bob)).toBe('');
    expect(await titleOf(project)).toBe('');
    expect(await titleOf(ann)).toBe('By Ann');
    expect(await storedText(page)).not.toContain(ann.secretKey);
    await page.evaluate(() => {
      const error = { code: 'unauthorized', message: 'No.' };
      window.fetch = async () => new Response(JSON.stringify({ error }), { status: 401 });
    });
    await view('/audience');
    await tab.expectText('[role=alert]', 'Your key is no longer valid.');
    expect(await titleOf(ann)).toBe('By Ann');
    // Signing out asks, and erases it.
    await page.click('.account');
    await tab.click('button', 'Sign out');
    await tab.expectText('dialog[open]', 'Your draft “By Ann” is lost.');
    await tab.confirm();
    await tab.expectView('Sign in to Carillon');
    expect(await storedText(page)).not.toContain('By Ann');
    expect(await titleOf(ann)).toBe('');
  });

  test('“Send again” asks before it replaces a draft, and says who has it already', async () => {
    const { id } = await stack.send(project, { title: 'Sent before' });
    await write();
    await view(`/notifications/${id}`);
    await tab.click('button', 'Send again');
    await tab.expectText('dialog[open]', 'Your draft “Doors open” is lost.');
    // A question ends with the view that it is about.
    await view('/send');
    await page.waitForSelector('dialog:not([open])');
    await tab.expectView('New notification');
    expect(await fieldText('#send-title')).toBe(title);
    await view(`/notifications/${id}`);
    await tab.click('button', 'Send again');
    await tab.confirm();
    await tab.expectView('New notification');
    expect(await fieldText('#send-title')).toBe('Sent before');
    await tab.expectText('aside', 'One has “Sent before” already.');
    await sendOnce();
    await until('two notifications', async () => (await stored()).length === 2);
  });

  /** Opens the console in another tab, and closes this one. */
  async function closeAndOpen() {
    const other = await openConsole(browser, `${gateway.origin}/console`);
    await page.close();
    tab = other;
    ({ page } = other);
  }

  test('a draft whose outcome nobody knows outlives its tab, and only who has the key can read it', async () => {
    const bob = await stack.registry.invite(project.projectId, {
      name: 'Bob',
      role: 'sender',
      random: randomBytes,
    });
    await write();
    gateway.fault = 'the response is lost';
    await sendOnce();
    await tab.expectText('#doubt', 'It may have gone out');
    await closeAndOpen();
    await tab.openView({ ...project, secretKey: bob.key }, '/send');
    await tab.expectText('aside', 'of 1 subscriber');
    expect([await has('#doubt'), await fieldText('#send-title')]).toEqual([false, '']);
    expect(await storedText(page)).toContain('carillon doubt');
    expect(await storedText(page)).not.toMatch(/Doors|ada|everyone|Bob|secret/i);
    await tab.openView(project, '/send');
    await tab.expectText('#doubt', 'Everyone may have “Doors open” already');
    gateway.fault = undefined;
    await tab.click('button', 'Find out');
    await tab.expectView(title);
    expect(await stored()).toEqual([title]);
    expect(await storedText(page)).not.toContain('carillon doubt');
  });

  test('another draft in another tab says that the outcome of the first is not known', async () => {
    const other = await openConsole(browser, `${gateway.origin}/console`);
    await other.openView(project, '/send');
    await other.type('Title', 'Another');
    await page.bringToFront();
    await write();
    gateway.fault = 'the connection closes, nothing is forwarded';
    await sendOnce();
    await tab.expectText('#doubt', 'It may have gone out');
    await other.page.bringToFront();
    await other.click('button', 'Send to 1');
    await other.expectText('dialog[open]', 'Everyone may have “Doors open” already.');
    await other.page.close();
  });

  test('the same title typed again, here or by somebody else, says that it went out', async () => {
    await write();
    await tab.click('button', 'Send to 1');
    await tab.expectText('dialog[open]', 'Send to 1 subscriber?');
    // Meanwhile somebody else sends it.
    await stack.send(project, { title });
    await tab.confirm();
    await tab.expectText('dialog[open]', '“Doors open” went out');
    expect(await stored()).toEqual([title]);
    await tab.confirm();
    await tab.expectView(title);
    await view('/send');
    await tab.type('Title', title);
    await tab.click('button', 'Send to 1');
    await tab.expectText('dialog[open]', ', to everyone. Who has it may get it again.');
  });

  test('a tab with a draft asks before it is closed', async () => {
    const asked: string[] = [];
    page.on('dialog', (dialog) => asked.push(dialog.type()));
    await tab.openView(project, '/send');
    await page.reload();
    expect(asked).toEqual([]);
    await write();
    await page.reload();
    expect(asked).toEqual(['beforeunload']);
  });

  const sizes = [
    [568, 320],
    [320, 256],
    [320, 640],
    [1280, 900],
  ] as const;
  test.each(sizes)(
    'at %i × %i, taps that go on where the question opens do not answer it',
    async (width, height) => {
      await write();
      await page.setViewport({ width, height });
      // What was not counted yet is asked twice.
      await tab.expectText('form [role=status] b', '1');
      const send = await page.waitForSelector('form[aria-label=Notification] [type=submit]');
      await send!.evaluate((button) => button.scrollIntoView({ block: 'end' }));
      const at = (await send!.clickablePoint())!;
      await page.mouse.click(at.x, at.y);
      const confirm = (await page.waitForSelector('dialog[open] [type=submit]'))!;
      const there = await confirm.clickablePoint();
      for (const { x, y } of [at, there, there]) {
        if (await has('dialog[open]')) await page.mouse.click(x, y);
        await new Promise((resolve) => setTimeout(resolve, 600));
      }
      expect(await stored()).toEqual([]);
      if (await has('dialog:not([open])')) await send!.click();
      await tab.confirm();
      await tab.expectView(title);
    },
  );

  test('an open question counts again before it is answered', async () => {
    await write();
    await tab.click('button', 'Send to 1');
    await tab.expectText('dialog[open]', 'Send to 1 subscriber?');
    await stack.subscribe(project, 'bob');
    await tab.confirm();
    await tab.expectText('dialog[open]', 'Send to 2 subscribers?');
    await tab.expectText('dialog[open]', 'It was 1 subscriber when you were asked.');
    expect(await stored()).toEqual([]);
    await page.keyboard.press('Escape');
    // Closed while it counts, it is not answered. What cannot be counted is said.
    await page.setRequestInterception(true);
    const held: HTTPRequest[] = [];
    page.on('request', (request) =>
      request.method() === 'GET' ? held.push(request) : request.continue(),
    );
    await tab.click('button', 'Send to 2');
    await tab.confirm();
    await until('it counts', () => held.length > 0);
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog:not([open])');
    for (const request of held.splice(0)) await request.abort();
    await tab.click('button', 'Send to 2');
    await tab.confirm();
    await until('it counts', () => held.length > 0);
    for (const request of held.splice(0)) await request.abort();
    await tab.expectText('dialog[open]', 'No response from Carillon. This was not counted again.');
    expect(await stored()).toEqual([]);
  });

  test('a user id of a test that is refused, or lost, can be corrected', async () => {
    await write();
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (!request.postData()?.includes('"refused"')) return request.continue();
      const issues = [{ path: 'userIds[0]', message: 'must be another text' }];
      const error = { code: 'invalid_request', message: 'Refused.', issues };
      return request.respond({ status: 400, body: JSON.stringify({ error }) });
    });
    await tab.click('button', 'Send a test to me');
    await tab.type('Your user id', 'refused');
    await tab.confirm();
    await tab.expectText('dialog[open]', '“refused”');
    await tab.confirm();
    await tab.expectText('aside .issues', 'User ids must be another text.');
    await tab.click('button', 'Send a test to me');
    await tab.type('Your user id', 'ada');
    await tab.confirm();
    await tab.expectText('dialog[open]', '“ada”');
    gateway.fault = '504 after the service';
    await tab.confirm();
    await tab.expectText('aside [role=alert]', 'Carillon did not respond, but a gateway: 504.');
    await tab.expectText('aside .test-result', 'The test may have gone out.');
    gateway.fault = undefined;
    await tab.click('button', 'Send a test to me');
    await tab.type('Your user id', 'ada');
    await tab.confirm();
    await tab.expectText('dialog[open]', '“ada”');
    await tab.confirm();
    await tab.expectText('aside .test-result', 'Test to ada: 1 of 1 delivered.');
    expect(await stored()).toEqual([title]);
  });
});

/** Mulberry32. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Runs in the page. @returns what can be clicked by its text, but for what says “again”, erases the draft, or signs out. */
function findClickable(): readonly string[] {
  const root = document.querySelector('dialog[open]') ?? document;
  return [...root.querySelectorAll<HTMLElement>('a[href^="#/"], button, summary')]
    .filter((element) => element.checkVisibility() && !element.matches(':disabled'))
    .map((element) => element.textContent)
    .filter(
      (name) =>
        !/sign|out$|again|Edit, |Discard it|Replace it|test|^Remove/i.test(name) ||
        name === 'Find out',
    );
}

/** Runs in the page. */
function clickOn(name: string): void {
  const root = document.querySelector('dialog[open]') ?? document;
  [...root.querySelectorAll<HTMLElement>('a[href^="#/"], button, summary')]
    .find((element) => element.textContent === name)
    ?.click();
}
