import { showUrl } from '../../sdk/worker/tabs.ts';

const site = 'https://shop.example';
const click = { id: 'id-1', data: { chat: 7 }, url: `${site}/a`, action: '' };

interface Tab {
  /** At which it was loaded. */
  readonly url: string;
  /** Where its page says that it is. Default: it does not answer. */
  readonly place?: string;
  readonly isTaken?: boolean;
  /** Whether Carillon's worker controls it. Default: true. */
  readonly isControlled?: boolean;
  readonly frameType?: string;
  readonly focused?: boolean;
  readonly visibilityState?: string;
  /** What it rejects or throws. */
  readonly fails?: 'focus' | 'navigate' | 'postMessage';
  /** What `navigate()` resolves to, if not to the tab: null, or nothing in time. */
  readonly navigated?: 'null' | 'never';
}

/** The browser's open tabs. @returns them, and what happened to them. */
function openTabs(...tabs: readonly Tab[]) {
  const actions: string[] = [];
  const told: string[] = [];
  const pages = tabs.map(({ url, place, isTaken = false, isControlled = true, ...tab }) => {
    const attempt = (name: string) => {
      if (tab.fails === name) throw new DOMException(`${name} fails`, 'InvalidAccessError');
    };
    const page = {
      frameType: 'top-level',
      focused: false,
      visibilityState: 'hidden',
      ...tab,
      url,
      async focus() {
        attempt('focus');
        actions.push(`focus ${url}`);
      },
      async navigate(target: string) {
        if (!isControlled) throw new TypeError('This service worker is not the client’s.');
        attempt('navigate');
        actions.push(`navigate ${url} to ${target}`);
        if (tab.navigated === 'never') await new Promise(() => {});
        return tab.navigated === 'null' ? null : page;
      },
      postMessage(_: unknown, transfer: Transferable[] = []) {
        const [port] = transfer as MessagePort[];
        told.push(port ? `ask ${url}` : `tell ${url}`);
        if (place !== undefined) port?.postMessage({ url: place, isTaken });
        port?.close();
        attempt('postMessage');
      },
    };
    return page;
  });
  return {
    actions,
    told,
    clients: {
      matchAll: async () => pages,
      openWindow: async (target: string) => actions.push(`open ${target}`),
    },
  };
}

const isVisible = { visibilityState: 'visible' };

test.each<[string, readonly Tab[], readonly string[], url?: string]>([
  ['without a tab, a window opens', [], [`open ${site}/a`]],
  [
    'a tab that was loaded at the URL, and is there, gets the focus',
    [
      { url: `${site}/`, focused: true },
      { url: `${site}/a`, place: `${site}/a` },
    ],
    [`focus ${site}/a`],
  ],
  [
    'a tab that the worker does not control gets the focus if it is at the URL',
    [{ url: `${site}/a`, place: `${site}/a`, isControlled: false }],
    [`focus ${site}/a`],
  ],
  [
    'a tab that was loaded at the URL, and shows another page now, is navigated',
    [{ url: `${site}/a`, place: `${site}/b` }],
    [`navigate ${site}/a to ${site}/a`, `focus ${site}/a`],
  ],
  [
    'a tab that has come to the URL without loading it gets the focus',
    [{ url: `${site}/`, place: `${site}/a` }],
    [`focus ${site}/`],
  ],
  [
    'a tab that does not answer is navigated, wherever it was loaded',
    [{ url: `${site}/a` }],
    [`navigate ${site}/a to ${site}/a`, `focus ${site}/a`],
  ],
  [
    'a tab with another fragment is navigated to the fragment',
    [
      { url: `${site}/b`, focused: true },
      { url: `${site}/a#top`, place: `${site}/a#top` },
    ],
    [`navigate ${site}/a#top to ${site}/a#end`, `focus ${site}/a#top`],
    `${site}/a#end`,
  ],
  [
    'another query is another page',
    [{ url: `${site}/a?b=1`, isControlled: false }],
    [`open ${site}/a?b=2`],
    `${site}/a?b=2`,
  ],
  [
    'a page that takes the click stays, and gets the focus',
    [{ url: `${site}/b`, place: `${site}/b`, isTaken: true }],
    [`focus ${site}/b`],
  ],
  [
    'the tab that has the focus is preferred',
    [
      { url: `${site}/b` },
      { url: `${site}/c`, ...isVisible },
      { url: `${site}/d`, ...isVisible, focused: true },
    ],
    [`navigate ${site}/d to ${site}/a`, `focus ${site}/d`],
  ],
  [
    'then one that is visible',
    [{ url: `${site}/b` }, { url: `${site}/c`, ...isVisible }],
    [`navigate ${site}/c to ${site}/a`, `focus ${site}/c`],
  ],
  [
    'a frame is no tab, also at the URL',
    [
      { url: `${site}/a`, frameType: 'nested', focused: true, place: `${site}/a` },
      { url: `${site}/b` },
    ],
    [`navigate ${site}/b to ${site}/a`, `focus ${site}/b`],
  ],
  [
    'with frames only, a window opens',
    [{ url: `${site}/a`, frameType: 'nested' }],
    [`open ${site}/a`],
  ],
  [
    'a window that a page has opened is a tab',
    [{ url: `${site}/b`, frameType: 'auxiliary' }],
    [`navigate ${site}/b to ${site}/a`, `focus ${site}/b`],
  ],
  [
    'a tab that cannot be navigated stays, and a window opens',
    [{ url: `${site}/b`, isControlled: false }],
    [`open ${site}/a`],
  ],
  [
    'a URL on another site opens a window',
    [{ url: `${site}/b` }],
    ['open https://other.example/a'],
    'https://other.example/a',
  ],
  [
    'a tab whose navigation takes long gets the focus meanwhile',
    [{ url: `${site}/b`, navigated: 'never' }],
    [`navigate ${site}/b to ${site}/a`, `focus ${site}/b`],
  ],
  [
    'a tab that was led to another site gets the focus',
    [{ url: `${site}/b`, navigated: 'null' }],
    [`navigate ${site}/b to ${site}/a`, `focus ${site}/b`],
  ],
  [
    'a tab that cannot be navigated: a window opens',
    [{ url: `${site}/b`, fails: 'navigate' }],
    [`open ${site}/a`],
  ],
  [
    'a tab at the URL that cannot get the focus: a window opens',
    [{ url: `${site}/a`, place: `${site}/a`, fails: 'focus' }],
    [`open ${site}/a`],
  ],
  [
    'a tab that was navigated and cannot get the focus: a window opens',
    [{ url: `${site}/b`, fails: 'focus' }],
    [`navigate ${site}/b to ${site}/a`, `open ${site}/a`],
  ],
  [
    'a page that took the click and cannot get the focus: a window opens',
    [{ url: `${site}/b`, place: `${site}/b`, isTaken: true, fails: 'focus' }],
    [`open ${site}/a`],
  ],
  [
    'another page cannot be told',
    [{ url: `${site}/b` }, { url: `${site}/c`, frameType: 'nested', fails: 'postMessage' }],
    [`navigate ${site}/b to ${site}/a`, `focus ${site}/b`],
  ],
  [
    'a tab that cannot be asked is navigated',
    [{ url: `${site}/b`, fails: 'postMessage' }],
    [`navigate ${site}/b to ${site}/a`, `focus ${site}/b`],
  ],
])('%s', async (_, tabs, expected, url = `${site}/a`) => {
  const { clients, actions } = openTabs(...tabs);
  await showUrl(clients, url, `${site}/`, click);
  expect(actions).toEqual(expected);
});

test('if the tabs cannot be read, a window opens', async () => {
  const { clients, actions } = openTabs();
  const matchAll = () => Promise.reject(new DOMException('', 'AbortError'));
  await showUrl({ ...clients, matchAll }, `${site}/a`, `${site}/`, click);
  expect(actions).toEqual([`open ${site}/a`]);
});

test('every page hears of a click; only the tab that would open its URL is asked', async () => {
  const { clients, told } = openTabs(
    { url: `${site}/b` },
    { url: `${site}/c`, ...isVisible, place: `${site}/c` },
    { url: `${site}/frame`, frameType: 'nested', ...isVisible },
    { url: `${site}/d`, isControlled: false },
  );
  await showUrl(clients, `${site}/a`, `${site}/`, click);
  expect(told.sort()).toEqual([
    `ask ${site}/c`,
    `tell ${site}/b`,
    `tell ${site}/d`,
    `tell ${site}/frame`,
  ]);
});

test.each([
  ['below the scope', `${site}/shop/b`, [`navigate ${site}/shop/b to ${site}/shop/a`]],
  ['of another site on the host', `${site}/blog/`, [`open ${site}/shop/a`]],
])('a worker of a folder uses a tab %s so', async (_, url, [expected]) => {
  const { clients, actions, told } = openTabs({ url, place: url });
  await showUrl(clients, `${site}/shop/a`, `${site}/shop/`, click);
  expect(actions[0]).toBe(expected);
  expect(told).toHaveLength(1);
});
