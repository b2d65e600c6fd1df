import { pushMessage } from '../../contract/wire/message.ts';
import { readMessage } from '../../sdk/worker/message.ts';
import { giveToPage } from '../../sdk/worker/tabs.ts';

const scope = 'https://shop.example/';
const engine = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
const chromium = `Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36`;
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

const message = pushMessage(
  'id-1',
  {
    ...{ title: 'Title', body: 'Body', url: 'https://shop.example/7', whenFocused: 'page' },
    ...{ data: { chat: 7 }, actions: [{ action: 'later', title: 'Later' }] },
  },
  'https://push.example/events',
);
const notification = readMessage(JSON.parse(JSON.stringify(message)), scope);

/** Gives the message to windows that have the focus or not. @returns the result, and what each window received. */
async function given(userAgent: string, ...focused: readonly boolean[]) {
  const received: unknown[][] = focused.map(() => []);
  const windows = focused.map((isFocused, index) => ({
    focused: isFocused,
    postMessage: (data: unknown) => received[index]!.push(data),
  }));
  const tabs = { matchAll: async () => windows };
  return { isGiven: await giveToPage(notification, tabs, { scope, userAgent }), received };
}

test('the page gets the content, the data and absolute URLs', async () => {
  const { isGiven, received } = await given(chromium, true);
  expect(isGiven).toBe(true);
  expect(received).toEqual([
    [
      {
        ...{ carillon: scope, name: 'message' },
        detail: {
          ...{ id: 'id-1', tag: 'id-1', title: 'Title', body: 'Body', data: { chat: 7 } },
          url: 'https://shop.example/7',
          actions: [{ action: 'later', title: 'Later', url: 'https://shop.example/7' }],
        },
      },
    ],
  ]);
});

test('of several windows, only one with the focus gets it', async () => {
  const { isGiven, received } = await given(firefox, false, true, false);
  expect(isGiven).toBe(true);
  expect(received.map(({ length }) => length)).toEqual([0, 1, 0]);
});

test.each([
  ['no window', []],
  ['no window with the focus', [false, false]],
])('with %s it must be shown', async (_, focused) => {
  const { isGiven, received } = await given(firefox, ...focused);
  expect(isGiven).toBe(false);
  expect(received.flat()).toEqual([]);
});

test.each([
  ['Safari', `Mozilla/5.0 (Macintosh) ${engine} Version/18.4 Safari/605.1.15`],
  ['Chrome on iOS', `Mozilla/5.0 (iPhone) ${engine} CriOS/140.0.0.0 Mobile/15E148 Safari/604.1`],
  ['Firefox on iOS', `Mozilla/5.0 (iPhone) ${engine} FxiOS/140.0 Mobile/15E148 Safari/605.1.15`],
  ['Edge on iOS', `Mozilla/5.0 (iPhone) ${engine} Version/18.0 EdgiOS/140.0 Safari/604.1`],
])('in %s, which is WebKit, it must be shown', async (_, userAgent) => {
  const { isGiven, received } = await given(userAgent, true);
  expect(isGiven).toBe(false);
  expect(received).toEqual([[]]);
});
