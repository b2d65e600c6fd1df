import { openUrl } from '../../sdk/worker/tabs.ts';

const site = 'https://shop.example';
const base = `${site}/carillon-sw.js`;

interface Tab {
  readonly url: string;
  /** Whether Carillon's worker controls it. Default: true. */
  readonly isControlled?: boolean;
}

/** The browser's open tabs. @returns them, and what happened to them. */
function openTabs(...tabs: readonly Tab[]) {
  const actions: string[] = [];
  const clients = tabs.map(({ url, isControlled = true }) => ({
    isControlled,
    client: {
      url,
      focus: async () => actions.push(`focus ${url}`),
      navigate: async (target: string) => {
        if (!isControlled) throw new TypeError('This service worker is not the client’s.');
        actions.push(`navigate ${url} to ${target}`);
      },
    },
  }));
  return {
    actions,
    clients: {
      matchAll: async ({
        includeUncontrolled = false,
      }: {
        readonly includeUncontrolled?: boolean;
      }) =>
        clients
          .filter(({ isControlled }) => includeUncontrolled || isControlled)
          .map(({ client }) => client),
      openWindow: async (target: string) => actions.push(`open ${target}`),
    },
  };
}

test.each<[string, readonly Tab[], string, readonly string[]]>([
  ['without a tab, a window opens', [], `${site}/a`, [`open ${site}/a`]],
  ['a relative URL is on the site', [], '/a', [`open ${site}/a`]],
  [
    'a tab with the URL gets the focus',
    [{ url: `${site}/` }, { url: `${site}/a` }],
    `${site}/a`,
    [`focus ${site}/a`],
  ],
  [
    'a tab that the worker does not control gets the focus if it has the URL',
    [{ url: `${site}/` }, { url: `${site}/a`, isControlled: false }],
    `${site}/a`,
    [`focus ${site}/a`],
  ],
  [
    'a tab with another fragment is navigated to the fragment',
    [{ url: `${site}/` }, { url: `${site}/a#top` }],
    `${site}/a#end`,
    [`focus ${site}/a#top`, `navigate ${site}/a#top to ${site}/a#end`],
  ],
  [
    'the exact URL is preferred to another fragment',
    [{ url: `${site}/a#top` }, { url: `${site}/a#end` }],
    `${site}/a#end`,
    [`focus ${site}/a#end`],
  ],
  [
    'another query is another page',
    [{ url: `${site}/a?b=1`, isControlled: false }],
    `${site}/a?b=2`,
    [`open ${site}/a?b=2`],
  ],
  [
    'another tab of the site is navigated',
    [{ url: `${site}/b`, isControlled: false }, { url: `${site}/c` }, { url: `${site}/d` }],
    `${site}/a`,
    [`focus ${site}/c`, `navigate ${site}/c to ${site}/a`],
  ],
  [
    'a tab that cannot be navigated stays, and a window opens',
    [{ url: `${site}/b`, isControlled: false }],
    `${site}/a`,
    [`open ${site}/a`],
  ],
  [
    'a URL on another site opens a window',
    [{ url: `${site}/b` }],
    'https://other.example/a',
    ['open https://other.example/a'],
  ],
])('%s', async (_, tabs, url, expected) => {
  const { clients, actions } = openTabs(...tabs);
  await openUrl(clients, url, base);
  expect(actions).toEqual(expected);
});

test('a tab that shows the page stays focused if it cannot go to the fragment', async () => {
  const { clients, actions } = openTabs({ url: `${site}/a`, isControlled: false });
  await expect(openUrl(clients, `${site}/a#end`, base)).rejects.toThrow(TypeError);
  expect(actions).toEqual([`focus ${site}/a`]);
});
