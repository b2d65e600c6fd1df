import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import type { NotificationResult } from '../../contract/wire/notification.ts';
import type { ProjectResult } from '../../contract/wire/project-result.ts';
import { judgedOf, outcomeRows } from '../fixtures/outcome-rows.ts';
import { accessibilityFaults } from './fixtures/accessibility-faults.ts';
import { describeWith } from './fixtures/browsers.ts';
import { launchChromium } from './fixtures/chromium.ts';
import { type ConsolePage, openConsole } from './fixtures/console-page.ts';
import {
  broadcasts,
  longTitle,
  outcomes,
  project,
  projectId,
  subscribers,
  user,
} from './fixtures/northgate.ts';
import { anyKey, type ShownProject, show } from './fixtures/shown-project.ts';
import { type BrowserStack, startBrowserStack } from './fixtures/stack.ts';

const desktop = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };

/** Everything that the club has sent. */
const all = [...outcomes, ...broadcasts(30)];
const [sending, partly, , , stopped, nobody] = outcomes as readonly [
  ...(readonly [NotificationResult, NotificationResult, NotificationResult]),
  ...(readonly [NotificationResult, NotificationResult, NotificationResult]),
];
const owner: ProjectResult = { ...project, access: { role: 'owner' } };
const empty: ProjectResult = {
  ...project,
  subscribers: 0,
  sample: { subscribers: 0, seenWithinDays: { 7: 0, 30: 0, 90: 0, 365: 0 }, channels: {} },
};

/** A folder for pictures of all views, such as those of the documentation. Default: none are made. */
const { PICTURES } = process.env;

describeWith('chromium', 'the console of a football club', (executablePath) => {
  let stack: BrowserStack;
  let browser: Browser;
  let tab: ConsolePage;
  let page: Page;
  let shown: ShownProject;

  beforeAll(async () => {
    stack = await startBrowserStack();
    browser = await launchChromium(executablePath, '--font-render-hinting=none');
  });

  beforeEach(async () => {
    tab = await openConsole(browser, `${stack.baseUrl}/console`);
    ({ page } = tab);
    await page.setViewport(desktop);
    await page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: 'light' },
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ]);
    await show(page, () => shown);
  });

  afterEach(() => page.close());

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  /** Opens a view, signed in. @param changes to what the service responds with. */
  async function open(view = '', changes: Partial<ShownProject> = {}) {
    shown = { project, notifications: all, user, ...changes };
    await tab.openView({ projectId, secretKey: anyKey }, view);
    await page.waitForFunction(() => document.querySelector('[name=password]') === null);
    await page.waitForSelector('main :is(section, table, dl, form)');
  }
  /** Opens the overview while the service fails. The sign-in before it works. */
  async function openDuring(fault: ShownProject['fault'], expected: string) {
    await open('/settings');
    shown = { ...shown, fault };
    await tab.click('link', 'Overview');
    await page.waitForSelector(expected);
  }
  const openNotification = ({ id }: NotificationResult, changes?: Partial<ShownProject>) =>
    open(`/notifications/${id}`, changes);

  /** What is seen of it. */
  const textOf = (selector = 'main') =>
    // biome-ignore lint/performance/useDomNodeTextContent: of what is hidden, nothing.
    page.$eval(selector, (element) => (element as HTMLElement).innerText.replace(/\s+/g, ' '));
  const textsOf = (selector: string) =>
    page.$$eval(selector, (elements) =>
      elements.filter((element) => element.checkVisibility()).map((one) => one.textContent.trim()),
    );

  /** Opens a view in each of its states. @returns after each, what it is. */
  const states: Readonly<Record<string, () => Promise<unknown>>> = {
    overview: () => open(),
    first: () => open('', { notifications: [] }),
    empty: () => open('', { notifications: [], project: empty }),
    one: () => open('', { notifications: [{ ...all[13]!, clicked: 0 }] }),
    six: () => open('', { notifications: all.slice(12, 18) }),
    notifications: () => open('/notifications'),
    filtered: async () => {
      await open('/notifications');
      await page.type('[type=search]', 'no such title');
    },
    partly: () => openNotification(partly),
    sending: () => openNotification(sending),
    nobody: () => openNotification(nobody),
    failed: () => openNotification(outcomes[7]!),
    compose: async () => {
      await open('/send');
      await page.type('#send-title', longTitle.slice(0, 37));
      await page.type('#send-body', 'Members also get free delivery. Order before Friday noon.');
      await page.type('#send-url', 'https://www.northgate.example/shop/scarves');
      await tab.click('radio', 'Some subscribers');
      await tab.click('checkbox', 'shop 2,409');
    },
    question: async () => {
      await open('/send');
      await page.type('#send-title', 'Team news');
      await page.focus('#send-title');
      await page.keyboard.press('Enter');
      await page.waitForSelector('[role=dialog]');
    },
    options: async () => {
      await open('/send');
      await tab.click('radio', 'Certain users');
      await tab.click('button', 'Narrow down');
      await tab.click('summary', 'Options');
      await tab.click('button', 'Add a button');
      await page.type('#send-ttl', '-');
      await tab.click('summary', 'Code');
      await page.focus('#send-title');
      await page.keyboard.press('Enter');
      await page.waitForSelector('[aria-invalid=true]');
    },
    audience: async () => {
      await open('/audience', { project: owner });
      await page.type('main input', 'ada');
      await page.keyboard.press('Enter');
      await page.waitForSelector('#devices');
    },
    settings: () => open('/settings'),
    menu: async () => {
      await open();
      await page.click('.account');
      await page.waitForSelector('[role=menu]');
    },
    loading: () => openDuring('silence', 'main [aria-label=Loading]'),
    error: () => openDuring('error', 'main [role=alert]'),
    'sign-in': async () => {
      await tab.open(`#/projects/${projectId}`);
      await tab.click('button', 'Sign in');
      await page.waitForSelector('[aria-invalid=true]');
    },
  };

  /** Texts of an earlier design. */
  const gone =
    /\bnobody\b|Sent, but|What to do:|At least .* subscribers not attempted|Growth: when|notifications in November|at each broadcast|of each broadcast|Send a notification$|To whom|a part of them|Some users|Only browsers|Goes to|More options|your own user id|first line of the notification|The page that a click opens|Sends exactly|Lengths and layout|Content and options|Copy id|Copy key|Outcome|docs\/sdk\.md|everyone, with|user ids?,|No response/;

  /** What matters is seen without scrolling, one button leads, no card is in a card, and no label is cut. */
  async function expectDesktop(view: string) {
    const bottomOf = (selector: string) =>
      page.$eval(selector, (element) => element.getBoundingClientRect().bottom);
    const leading = await page.$$eval('[data-variant=filled]', (buttons) =>
      buttons
        .filter((button) => button.checkVisibility() && button.closest('[role=dialog]') === null)
        // The colours of the ink pair.
        .filter((button) => getComputedStyle(button).backgroundColor === 'rgb(28, 25, 23)')
        .map((button) => button.textContent),
    );
    expect([leading.length <= 1, leading]).toEqual([true, leading]);
    expect(await page.$$('.mantine-Paper-root .mantine-Paper-root')).toEqual([]);
    const cut = await page.$$eval('.mantine-Button-label', (labels) =>
      labels
        .filter((label) => getComputedStyle(label).overflow !== 'visible')
        .filter((label) => label.scrollHeight > label.clientHeight)
        .map((label) => label.textContent),
    );
    expect(cut).toEqual([]);
    if (view === 'compose') {
      expect(await bottomOf('aside [type=submit]')).toBeLessThan(desktop.height);
      expect(await bottomOf('aside [aria-label=Preview]')).toBeLessThan(desktop.height);
    }
    if (view === 'overview') {
      expect(await bottomOf('[data-figure]')).toBeLessThan(desktop.height);
      expect(await bottomOf('[role=img] line')).toBeLessThan(desktop.height);
    }
  }

  /** What is beside the screen or over another text, with texts at 200 %. */
  async function faultsOfLargeTexts() {
    const faults: string[] = [];
    await page.evaluate(() => {
      document.documentElement.style.fontSize = '200%';
    });
    for (const size of [desktop, phone]) {
      await page.setViewport(size);
      const found = await page.evaluate(findOverlaps);
      faults.push(...found.map((fault) => `${fault} (${size.width})`));
    }
    return faults;
  }

  // One visit for all rules: the way to a state takes longer than each of them.
  test.each(Object.entries(states))(
    'what holds for every state of a view, in each width, in light, dark and with large texts: %s',
    async (name, reach) => {
      await reach();
      expect((await textOf('body')).match(gone)?.[0]).toBeUndefined();
      await expectDesktop(name);
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await faultsOfLargeTexts()).toEqual([]);
    },
  );

  test('each row of the words is read in the list, and on the page of the notification', async () => {
    const notifications = outcomeRows.map((row, index): NotificationResult => {
      const judged = judgedOf(row);
      return {
        ...partly,
        ...judged,
        status: judged.status ?? 'sent',
        shown: 0,
        clicked: 0,
        id: partly.id.replace('01a2', String(1000 + index)),
        removed: judged.attempted - judged.delivered - judged.failed,
        failures: {},
        unreached: judged.unreached,
      };
    });
    await open('/notifications', { notifications });
    expect(await textsOf('tbody [data-outcome]')).toEqual(outcomeRows.map(([, word]) => word));
    expect(
      await page.$$eval('tbody [data-outcome]', (all) =>
        all.map((one) => [
          one.getAttribute('data-outcome'),
          one.querySelector('svg')!.getAttribute('data-icon'),
        ]),
      ),
    ).toEqual(outcomeRows.map(([, , tone, icon]) => [tone, icon]));
    for (const [index, [, word, , , sentence]] of outcomeRows.entries()) {
      await tab.go(`#/projects/${projectId}/notifications/${notifications[index]!.id}`);
      await tab.expectText('#verdict', sentence);
      await tab.expectText('main [data-outcome]', word);
    }
  });

  test.each([
    ['nothing', [], ['Your first notification']],
    ['one without a click', [{ ...all[13]!, clicked: 0 }], ['Your first notification', 'Delivery']],
    ['one with a click', [all[13]!], ['Delivery']],
    ['six', all.slice(12, 18), ['Latest notifications']],
    ['seven', all.slice(12, 19), ['Last 7 broadcasts', 'Latest notifications']],
    ['two hundred', broadcasts(200), ['Last 14 broadcasts', 'Latest notifications']],
  ])(
    'of a project that has sent %s, the overview has the parts that it needs',
    async (_, notifications, parts) => {
      await open('', { notifications });
      const headings = await page.$$eval('main section', (sections) =>
        sections.map((one) => one.ariaLabel ?? one.querySelector('h2')!.textContent),
      );
      expect(headings).toEqual(parts);
      expect(await page.$$('[data-figure]')).toHaveLength(notifications.length === 0 ? 0 : 4);
      expect(await page.$$('tbody tr')).toHaveLength(notifications.length < 2 ? 0 : 5);
    },
  );

  test('the overview says each fact once', async () => {
    await open();
    const count = subscribers.toLocaleString('en');
    expect((await textOf('body')).split(count)).toHaveLength(2);
    await open('', { notifications: [] });
    expect((await textOf('body')).split(count)).toHaveLength(2);
    await open('', { notifications: all.slice(13, 14) });
    expect((await textOf('body')).split(count)).toHaveLength(2);
  });

  test('the one notice leads to what it is about, and ends by itself', async () => {
    await open();
    expect(await textOf('#notice')).toBe(
      '“Kick-off moved to 16:30” did not reach everyone. 726 of 12,104 did not get it. See why',
    );
    await tab.click('link', 'See why');
    await tab.expectView(partly.title);
    await open('', { project: { ...project, subscriberCap: subscribers } });
    expect(await textOf('#notice')).toMatch(/^The limit of 12,480 subscribers is reached\./);
    await tab.click('link', 'See the limits');
    await tab.expectText('[data-limit=Subscribers]', '12,480 of 12,480');
    await open('', { notifications: all.slice(2) });
    expect(await page.$('#notice')).toBeNull();
  });

  test('no rate is above 100 %', async () => {
    // Of ten that were delivered, eleven clicks: those of other notifications were lost.
    const odd = { ...partly, attempted: 10, delivered: 10, removed: 0, failed: 0, shown: 11 };
    const notifications = [{ ...odd, failures: {}, clicked: 12 }, ...all.slice(13, 14)];
    for (const view of ['', '/notifications', `/notifications/${odd.id}`]) {
      await open(view, { notifications });
      const rates = [...(await textOf()).matchAll(/([\d.]+) %/g)].map(([, rate]) => Number(rate));
      expect(rates.length).toBeGreaterThan(0);
      expect(Math.max(...rates)).toBeLessThanOrEqual(100);
    }
  });

  test('a notification opens by mouse and by keyboard', async () => {
    const { title } = all[13]!;
    await open('/notifications', { notifications: all.slice(13, 15) });
    // The whole row is the link.
    await (await page.$('tbody tr'))!.click();
    await tab.expectView(title);
    await tab.click('link', 'Notifications');
    const link = (await page.waitForSelector('tbody a'))!;
    await link.focus();
    await page.keyboard.press('Enter');
    await tab.expectView(title);
  });

  test('on a phone, each row has title, word and time, and nothing is cut', async () => {
    await page.setViewport(phone);
    await open('/notifications');
    const rows = await page.$$eval('tbody tr', (all) =>
      all.map((row) => {
        const link = row.querySelector('a')!;
        const isSeen = (element: Element) => {
          const { left, right, width, height } = element.getBoundingClientRect();
          return width > 0 && height > 0 && left >= 0 && right <= innerWidth;
        };
        return {
          title: link.textContent.length,
          lines: Math.round(
            link.clientHeight / Number.parseFloat(getComputedStyle(link).lineHeight),
          ),
          isSeen: [link, row.querySelector('[data-outcome]')!, row.querySelector('time')!].every(
            isSeen,
          ),
          isWordWhole: (() => {
            const word = row.querySelector('[data-outcome] :last-child')!;
            return word.scrollWidth <= word.clientWidth;
          })(),
        };
      }),
    );
    expect(rows).toHaveLength(all.length);
    for (const row of rows) expect(row).toMatchObject({ isSeen: true, isWordWhole: true });
    // Two lines of about 40 characters: the long title has both.
    expect(rows[4]).toMatchObject({ lines: 2 });
    expect(rows[4]!.title).toBeGreaterThanOrEqual(30);

    await openNotification(partly);
    for (const [reason, ...texts] of [
      ['unavailable', 'A push service was down', 'It returned errors', 'Send again…'],
      ['too_large', 'Too large for a push service', 'bytes fit everywhere', 'Edit a copy'],
    ]) {
      for (const text of texts) await tab.expectText(`[data-name=${reason}]`, text);
    }
  });

  test('on a phone, the preview comes before the audience, and sending is always in reach', async () => {
    await page.setViewport(phone);
    await open('/send');
    const top = (selector: string) =>
      page.$eval(selector, (element) => element.getBoundingClientRect().top + scrollY);
    expect(await top('[aria-label=Preview]')).toBeLessThan(await top('[role=radio]'));
    await tab.click('summary', 'Options');
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    for (let position = 0; position < height; position += 700) {
      await page.evaluate((y) => scrollTo(0, y), position);
      const isInReach = await page.$eval('.send-bar [type=submit]', (button) => {
        const { left, top, width, height } = button.getBoundingClientRect();
        return button.contains(document.elementFromPoint(left + width / 2, top + height / 2));
      });
      expect([position, isInReach]).toEqual([position, true]);
    }
  });

  test('in forced colours, what is chosen has an edge, and data keep their colours', async () => {
    const session = await page.createCDPSession();
    const features = [{ name: 'forced-colors', value: 'active' }];
    await session.send('Emulation.setEmulatedMedia', { features });
    await open('/send');
    const outlineOf = (selector: string) =>
      page.$eval(selector, (element) => getComputedStyle(element).outline);
    expect(await outlineOf('.mantine-SegmentedControl-indicator')).toMatch(/1px/);
    await openNotification(partly);
    const colors = await page.$$eval(
      '[data-step=Delivered] .mantine-Progress-section',
      (sections) => sections.map((section) => getComputedStyle(section).backgroundColor),
    );
    expect(new Set(colors).size).toBe(3);
  });

  test('what is stopped or was not attempted says why, in the words of the design', async () => {
    await openNotification(stopped);
    expect(await textOf('#losses')).toBe('At least 2,031 not attempted: it was stopped');
    await tab.expectText('dl', 'State in the APIstopped');
    const late = {
      ...partly,
      failed: 0,
      failures: {},
      attempted: 11_378,
      unreached: 12,
      removed: 6,
    };
    await openNotification(late, { notifications: [{ ...late, delivered: 11_372 }] });
    expect(await textOf('#losses')).toBe(
      '6 had unsubscribed and were removed At least 12 not attempted: the time ran out',
    );
    expect(await textOf('#funnel')).toContain('Attempted 11,378');
  });

  test('one fault is said once, and what failed is tried again', async () => {
    await openDuring('error', 'main [role=alert]');
    expect(await page.$$('main [role=alert]')).toHaveLength(1);
    shown = { ...shown, fault: undefined };
    await tab.click('button', 'Try again');
    await page.waitForSelector('[data-figure]');
    expect(await page.$('main [role=alert]')).toBeNull();
  });

  test('an action of a failure opens the form with the notification', async () => {
    await openNotification(partly);
    await tab.click('link', 'Edit a copy');
    await tab.expectView('New notification');
    expect(await page.$eval('#send-title', (input) => (input as HTMLInputElement).value)).toBe(
      partly.title,
    );
    await openNotification(outcomes[7]!);
    await tab.click('link', 'Settings');
    await tab.expectView('Settings');
  });

  (PICTURES === undefined ? test.skip : test).each(Object.entries(states))(
    'pictures are made: %s',
    async (name, reach) => {
      mkdirSync(PICTURES!, { recursive: true });
      for (const size of [desktop, phone]) {
        for (const value of ['light', 'dark']) {
          await page.setViewport(size);
          await page.emulateMediaFeatures([
            { name: 'prefers-color-scheme', value },
            { name: 'prefers-reduced-motion', value: 'reduce' },
          ]);
          await reach();
          await page.addStyleTag({
            content: `:root { --mantine-font-family: Inter !important;
              --mantine-font-family-headings: Inter !important }`,
          });
          await page.evaluate(() => document.fonts.ready);
          const path = join(PICTURES!, `${name}-${size.width}-${value}.png`);
          await page.screenshot({ path: path as `${string}.png` });
        }
      }
    },
  );
});

/** Runs in the page, after its observers of size have. */
async function findOverlaps(): Promise<readonly string[]> {
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const { scrollWidth } = document.documentElement;
  const boxes = [
    ...document.querySelectorAll('main :is(h1, h2, p, button, label, a, td, dt, dd, b, small)'),
  ]
    .filter((element) => element.checkVisibility() && element.children.length === 0)
    // What is fixed is over the rest on purpose, and a link covers its row.
    .filter((element) => element.closest('.send-bar') === null)
    .map((element) => ({ element, box: element.getBoundingClientRect() }));
  const overlapping = boxes.flatMap(({ element, box }, index) =>
    boxes
      .slice(index + 1)
      .filter(
        (other) =>
          !element.contains(other.element) &&
          Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left) > 2 &&
          Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top) > 2,
      )
      .map((other) => `${element.textContent} / ${other.element.textContent}`),
  );
  return [...(scrollWidth > innerWidth ? [`${scrollWidth} px wide`] : []), ...overlapping];
}
