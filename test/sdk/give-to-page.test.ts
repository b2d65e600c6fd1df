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

type Listening = 'has it' | 'has no listener' | 'does not answer' | 'cannot be asked';

/** Gives the message to pages, which have the focus or not. @returns the result, and what each page received. */
async function given(
  userAgent: string,
  ...listening: readonly (Listening | 'without the focus')[]
) {
  const received: unknown[][] = listening.map(() => []);
  const pages = listening.map((how, index) => ({
    focused: how !== 'without the focus',
    postMessage(data: unknown, transfer: Transferable[] = []) {
      const [port] = transfer as MessagePort[];
      received[index]!.push(data);
      if (how.startsWith('has ')) port!.postMessage({ url: '', isTaken: how === 'has it' });
      port!.close();
      if (how === 'cannot be asked') throw new DOMException('', 'DataCloneError');
    },
  }));
  const clients = { matchAll: async () => pages };
  return { isGiven: await giveToPage(notification, clients, { scope, userAgent }), received };
}

test('the page gets the content, the data and absolute URLs', async () => {
  const { isGiven, received } = await given(chromium, 'has it');
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

test('of several pages, only those with the focus get it', async () => {
  const { isGiven, received } = await given(
    firefox,
    'without the focus',
    'has it',
    'without the focus',
  );
  expect(isGiven).toBe(true);
  expect(received.map(({ length }) => length)).toEqual([0, 1, 0]);
});

test.each<[boolean, readonly (Listening | 'without the focus')[]]>([
  [false, []],
  [false, ['without the focus', 'without the focus']],
  [false, ['has no listener']],
  [false, ['does not answer']],
  [false, ['cannot be asked']],
  [true, ['has no listener', 'has it']],
  [true, ['does not answer', 'has it']],
  [true, ['cannot be asked', 'has it']],
])('it is taken: %p, by pages of which one %p', async (isTaken, pages) => {
  expect((await given(firefox, ...pages)).isGiven).toBe(isTaken);
});

test.each([
  ['Safari', `Mozilla/5.0 (Macintosh) ${engine} Version/18.4 Safari/605.1.15`],
  ['Chrome on iOS', `Mozilla/5.0 (iPhone) ${engine} CriOS/140.0.0.0 Mobile/15E148 Safari/604.1`],
  ['Firefox on iOS', `Mozilla/5.0 (iPhone) ${engine} FxiOS/140.0 Mobile/15E148 Safari/605.1.15`],
  ['Edge on iOS', `Mozilla/5.0 (iPhone) ${engine} Version/18.0 EdgiOS/140.0 Safari/604.1`],
])('in %s, which is WebKit, it must be shown', async (_, userAgent) => {
  const { isGiven, received } = await given(userAgent, 'has it');
  expect(isGiven).toBe(false);
  expect(received).toEqual([[]]);
});
