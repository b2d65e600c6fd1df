import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import type { NotificationResult } from '../../contract/wire/notification.ts';
import { isInProgress } from '../../contract/wire/notification-status.ts';
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
/** A screen of 1,280 × 1,024 (WCAG 1.4.10). */
const at400Percent = { width: 320, height: 256 };
const betweenWidths = Array.from({ length: 16 }, (_, at) => ({
  width: 355 + 70 * at,
  height: 800,
}));

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
  sample: {
    ...{ subscribers: 0, seenWithinDays: { 7: 0, 30: 0, 90: 0, 365: 0 } },
    ...{ channels: {}, locales: {}, pushServices: {} },
  },
};

/** A folder for pictures of all views, such as those of the documentation. Default: none are made. */
const { PICTURES } = process.env;

/** Another notification with the same results. */
function copyOf(notification: NotificationResult): NotificationResult {
  return { ...notification, id: notification.id.replace(/.{12}$/, '0'.repeat(12)) };
}

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

  afterEach(async () => {
    await forget();
    await page.close();
  });

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  /** Drafts: of this tab, and those whose outcome nobody knows, which outlive it. */
  const forget = () =>
    page.evaluate(() => {
      if (location.protocol === 'about:') return;
      sessionStorage.clear();
      localStorage.clear();
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
      await tab.click('checkbox', 'shop 2,400');
    },
    question: async () => {
      await open('/send');
      await page.type('#send-title', 'Team news');
      await page.focus('#send-title');
      await page.keyboard.press('Enter');
      await page.waitForSelector('dialog[open]');
    },
    doubt: async () => {
      await states.question!();
      shown = { ...shown, fault: 'error' };
      await tab.confirm();
      await tab.expectText('dialog[open]', 'This was not counted again.');
      await tab.confirm();
      await page.waitForSelector('#doubt');
    },
    personal: async () => {
      await open('/send');
      await page.type('#send-title', 'Hello {{name}}');
      await tab.click('radio', 'Certain users');
      await tab.click('checkbox', 'A text for each user');
      await page.type('#send-recipients', 'userId,name\nada,"Lovelace, Ada"\ngrace,Grace\n');
      await tab.click('button', 'Next recipient');
    },
    languages: async () => {
      await open('/send');
      await page.type('#send-title', 'Doors open at eight');
      await tab.click('button', 'Add a language');
      await page.type('#send-translations-0-tag', 'ar');
      await page.type('#send-translations-ar-title', 'تفتح الأبواب في الثامنة');
      await tab.click('button', 'Next language');
    },
    options: async () => {
      await open('/send');
      await tab.click('radio', 'Certain users');
      await tab.click('checkbox', 'Narrow down by channel or last visit');
      await tab.click('summary', 'Options');
      await tab.click('button', 'Add a button');
      await page.type('#send-appBadge', '-');
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
      await page.waitForSelector('[popover]:popover-open');
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
        .filter((button) => button.checkVisibility() && button.closest('dialog[open]') === null)
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
      expect(await bottomOf('.chart')).toBeLessThan(desktop.height);
    }
  }

  /** What is beside the screen, or over another text. */
  async function overlapsAt(sizes: readonly { readonly width: number; readonly height: number }[]) {
    const faults: string[] = [];
    for (const size of sizes) {
      await page.setViewport(size);
      const found = await page.evaluate(findOverlaps);
      faults.push(...found.map((fault) => `${fault} (${size.width})`));
    }
    return faults;
  }

  // One visit for all rules: the way to a state takes longer than each of them.
  test.each(Object.entries(states))(
    'what holds for every state of a view, in each width, in light, dark, at 400 % and with large texts: %s',
    async (name, reach) => {
      await reach();
      expect((await textOf('body')).match(gone)?.[0]).toBeUndefined();
      await expectDesktop(name);
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.setViewport(phone);
      expect(await page.evaluate(findSmallTargets)).toEqual([]);
      for (const size of [phone, at400Percent]) {
        await page.setViewport(size);
        expect([size.width, await page.evaluate(findHiddenFocus)]).toEqual([size.width, []]);
      }
      expect(await overlapsAt(betweenWidths)).toEqual([]);
      await page.evaluate(() => {
        document.documentElement.style.fontSize = '200%';
      });
      expect(await overlapsAt([desktop, phone])).toEqual([]);
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

  test('a first notification that went to nobody is no sign of a browser that has subscribed', async () => {
    const nobody = { ...all[13]!, attempted: 0, delivered: 0, removed: 0, failed: 0, clicked: 0 };
    const { failures: _, unreached: __, ...first } = { ...nobody, shown: 0 };
    await open('', { project: { ...project, subscribers: 0 }, notifications: [first] });
    await tab.expectText('main', '1 of 3 done');
  });

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
    for (const [row, ...texts] of [
      ['1', 'A push service was down', 'It returned errors', 'Send again…'],
      ['2', 'Too large for a push service', 'bytes fit everywhere', 'Edit a copy'],
    ]) {
      for (const text of texts) await tab.expectText(`#reasons li:nth-child(${row})`, text);
    }
  });

  test('the columns of the overview lead to their notifications, and say their values without a mouse', async () => {
    await open();
    const columns = await page.$$eval('.chart a', (links) => links.map((link) => link.ariaLabel));
    expect(columns).toHaveLength(14);
    expect(columns[12]).toMatch(/^4,100 delivered, 310 clicked, 120 failed, 7,800 not attempted: /);
    await page.focus('.chart a:nth-of-type(14)');
    await tab.expectText('main', '11,364 delivered, 1,250 clicked, 726 failed, 0 not attempted');
    await page.keyboard.press('Enter');
    await tab.expectView(partly.title);
  });

  test('nothing that is in progress has a rate', async () => {
    const running = all.filter(({ status }) => isInProgress(status));
    for (const view of ['', '/notifications', ...running.map(({ id }) => `/notifications/${id}`)]) {
      await open(view, { notifications: [...running, ...running.map(copyOf)] });
      expect(await textOf()).not.toContain('%');
    }
  });

  test('what is in progress is read again in lists, until it is over', async () => {
    await open('/notifications');
    await tab.expectText('tbody tr', '8,012 so far');
    const ended = { ...sending, status: 'sent' as const };
    shown = { ...shown, notifications: [ended, ...all.slice(1)] };
    await tab.expectText('tbody tr [data-outcome]', 'Sent');
  });

  test('the exact time of a notification is on its page, with its zone', async () => {
    await openNotification(partly);
    await tab.expectText('dl', 'Nov 27, 2026, 12:00:00 PM GMT');
  });

  test('filters are in the address: Back, Forward and a reload find them again', async () => {
    await open('/notifications');
    await page.type('[type=search]', 'Okafor');
    await page.select('[aria-label=Audience]', 'all');
    await tab.expectText('#searched', 'matches in');
    const found = await textsOf('tbody a');
    await (await page.$('tbody tr'))!.click();
    await tab.expectView(sending.title);
    await page.goBack();
    await tab.expectView('Notifications');
    expect(await textsOf('tbody a')).toEqual(found);
    await page.goForward();
    await tab.expectView(sending.title);
    await page.click('main a[href*="notifications?"]');
    await tab.expectView('Notifications');
    expect(await page.$eval('[type=search]', (input) => (input as HTMLInputElement).value)).toBe(
      'Okafor',
    );
    expect(page.url()).toMatch(/notifications\?search=Okafor&audience=all$/);
  });

  test('Back finds a long list where it was left', async () => {
    await open('/notifications');
    await page.evaluate(() => scrollTo(0, 900));
    await page.evaluate(() =>
      document.querySelector<HTMLElement>('tbody tr:nth-child(20) a')!.click(),
    );
    await tab.expectView(all[19]!.title);
    expect(await page.evaluate(() => scrollY)).toBe(0);
    await page.goBack();
    await tab.expectView('Notifications');
    await page.waitForFunction(() => scrollY === 900);
  });

  test('of 5,000 notifications the oldest is found by one press, and each page is loaded once', async () => {
    const many = broadcasts(4999);
    const oldest = { ...copyOf(many.at(-1)!), title: 'The very first' };
    let reads = 0;
    page.on('request', (request) => {
      if (new URL(request.url()).pathname.endsWith('/notifications')) reads++;
    });
    await open('/notifications', { notifications: [...many, oldest] });
    await page.type('[type=search]', 'very first');
    await tab.click('button', 'Search older');
    await tab.expectText('#searched', '1 match in 5,000 notifications');
    expect(reads).toBe(50);
    await tab.click('link', 'Overview');
    await tab.expectView('Overview');
    await page.goBack();
    await tab.expectText('#searched', '1 match in 5,000 notifications');
    // The newest ones.
    expect(reads).toBeLessThanOrEqual(52);
    await page.type('[type=search]', ' of all');
    await tab.expectText('main', 'No match in 5,000 notifications');
    await tab.click('button', 'Clear filters');
    await tab.expectText('tbody', many[0]!.title);
  });

  test('of a notification that is not there, the reason is said', async () => {
    await open();
    await tab.go(`#/projects/${projectId}/notifications/no-such-id`);
    await tab.expectText('[role=alert]', 'It may no longer be kept');
  });

  test.each([
    [1366, 650],
    [1280, 720],
    [1920, 600],
  ])('at %i × %i, with an image and a long text, sending is in sight', async (width, height) => {
    await page.setViewport({ width, height });
    await open('/send');
    await page.type('#send-title', longTitle);
    await page.$eval('#send-body', (field) => {
      Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')!.set!.call(
        field,
        'A long text. '.repeat(100),
      );
      field.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await tab.click('summary', 'Options');
    await page.type('#send-image', 'https://www.northgate.example/image.png');
    for (const top of [0, 400, 5000]) {
      await page.evaluate((y) => scrollTo(0, y), top);
      expect(await isSeen('aside [type=submit]')).toBe(true);
    }
  });

  /** Whether the middle of an element is on the screen, with nothing over it. */
  const isSeen = (selector: string) =>
    page.$eval(selector, (element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
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
      removals: { mozilla: 4, apple: 2 },
    };
    await openNotification(late, { notifications: [{ ...late, delivered: 11_372 }] });
    expect(await textOf('#losses')).toBe(
      'Gone: 6 removed (Firefox 4, Safari 2) At least 12 not attempted: the time ran out',
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
    await tab.click('button', 'Edit a copy');
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
          // The draft of the picture before.
          await forget();
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

/** Runs in the page: moves the focus through it. @returns what is covered, or beside the screen, when it has the focus. */
function findHiddenFocus(): readonly string[] {
  const stops = [
    ...document.querySelectorAll<HTMLElement>(
      'main :is(a, button, input, select, textarea, summary, [tabindex="0"])',
    ),
  ].filter((element) => element.checkVisibility() && element.tabIndex >= 0);
  // The focus scrolls only when it comes.
  const focused = document.activeElement as HTMLElement;
  if (stops.includes(focused)) focused.blur();
  return stops.flatMap((stop) => {
    stop.focus();
    // Disabled, or behind a dialog.
    if (document.activeElement !== stop) return [];
    // What is invisible is drawn by its label.
    const drawn =
      getComputedStyle(stop).opacity === '0' || stop.offsetWidth < 2
        ? (stop.closest('label') ?? stop.parentElement!)
        : stop;
    const { left, right, top, bottom } = drawn.getBoundingClientRect();
    const x = Math.max(0, left) + Math.min(right - Math.max(0, left), innerWidth) / 2;
    // Its beginning, or its end, is seen.
    const isSeen = [top + 4, bottom - 4, (top + bottom) / 2].some((y) => {
      const at = document.elementFromPoint(x, y);
      return (
        at !== null &&
        (drawn.contains(at) || at.contains(drawn)) &&
        !at.closest('.send-bar:not(:focus-within)')
      );
    });
    return isSeen ? [] : [`${stop.outerHTML.slice(0, 120)} at ${Math.round(top)}`];
  });
}

/** Runs in the page. Links in a text may be as high as it is (WCAG 2.5.8), and those in a chart are in the list too. */
function findSmallTargets(): readonly string[] {
  const targets =
    'a, button, summary, select, textarea, input:not([type=checkbox], [type=radio]), .mantine-Chip-label, .mantine-SegmentedControl-label';
  return [...document.querySelectorAll<HTMLElement>(targets)]
    .filter((element) => element.checkVisibility() && element.closest('[aria-hidden]') === null)
    .filter((element) => !element.matches('.skip, td a, .chart a'))
    .filter((element) => element.getBoundingClientRect().height < 40)
    .map((element) => `${element.outerHTML.slice(0, 120)}: ${element.clientHeight}`);
}

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
    .map((element) => {
      const box = element.getBoundingClientRect();
      // What is scrolled away in a part of the page is over nothing.
      const part = element.closest('.aside > :first-child')?.getBoundingClientRect();
      const bottom = Math.min(box.bottom, part?.bottom ?? box.bottom);
      return { element, box: { top: box.top, left: box.left, right: box.right, bottom } };
    });
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
