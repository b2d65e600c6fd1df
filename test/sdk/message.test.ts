import * as fc from 'fast-check';
import { pushMessage } from '../../contract/wire/message.ts';
import { isCarillonMessage, parseText, readMessage, urlOfClick } from '../../sdk/worker/message.ts';

const scope = 'https://shop.example/app/';
const read = (text: string) => readMessage(parseText(text), scope);

const events = 'https://push.example/events?tally=3';

test('a Carillon message is shown with every field and keeps the data for its beacons', () => {
  const content = {
    title: 'Title',
    body: 'Body',
    url: 'https://shop.example/target',
    icon: 'https://shop.example/icon.png',
    image: 'https://shop.example/image.png',
    badge: 'https://shop.example/badge.png',
    tag: 'own',
    lang: 'pt-BR',
    dir: 'rtl' as const,
    renotify: true,
    requireInteraction: true,
    silent: false,
  };
  const message = JSON.stringify(pushMessage('id-1', content, events));
  expect(isCarillonMessage(parseText(message))).toBe(true);
  const { title, url, ...rest } = content;
  expect(read(message)).toEqual({
    title,
    options: {
      ...rest,
      actions: [],
      data: { url, urls: {}, carillon: 1, id: 'id-1', events },
    },
    eventWindowMs: 0,
    isForPage: false,
    reportsShown: true,
  });
});

test('actions, time, badge and the sender’s data are read', () => {
  const content = {
    title: 'T',
    url: 'https://shop.example/7',
    actions: [
      { action: 'pay', title: 'Pay', url: 'https://shop.example/pay' },
      { action: 'see', title: 'See', icon: 'https://shop.example/see.png' },
    ],
    timestamp: '2026-11-21T19:00:00Z',
    data: { order: 7 },
    appBadge: 0,
  };
  const { options, appBadge } = read(JSON.stringify(pushMessage('id-1', content, events)));
  expect(options.actions).toEqual([
    { action: 'pay', title: 'Pay' },
    { action: 'see', title: 'See', icon: 'https://shop.example/see.png' },
  ]);
  expect(options.data).toMatchObject({
    urls: { pay: 'https://shop.example/pay', see: 'https://shop.example/7' },
    data: { order: 7 },
  });
  expect(options.timestamp).toBe(Date.UTC(2026, 10, 21, 19));
  expect(appBadge).toBe(0);
});

test.each([
  ['without a sender’s tag, the id is the tag', { data: { carillon: 1, id: 'a' } }, { tag: 'a' }],
  ['renotify without any tag', { renotify: true }, { renotify: false }],
  ['an unknown direction', { dir: 'up' }, {}],
  ['flags of another type', { silent: 'no', requireInteraction: 1 }, {}],
  ['a time of another type', { timestamp: '2026' }, {}],
  ['actions that are no list', { actions: { length: 1 } }, { actions: [] }],
  ['malformed actions', { actions: [null, 7, { action: 'a' }, { title: 'b' }] }, { actions: [] }],
])('what browsers would reject is left out: %s', (_, notification, expected) => {
  const { options } = readMessage({ notification }, scope);
  const { tag, renotify, dir, silent, requireInteraction, timestamp, actions } = options;
  expect({ tag, renotify, dir, silent, requireInteraction, timestamp, actions }).toEqual({
    actions: [],
    ...expected,
  });
});

test.each([
  ['page', { carillon: 1, id: 'id-1', whenFocused: 'page' }, true],
  ['a value of a later version', { carillon: 1, id: 'id-1', whenFocused: 'both' }, false],
  ['page, from another sender', { whenFocused: 'page' }, false],
])('with `whenFocused` %s', (_, data, isForPage) => {
  expect(readMessage({ notification: { title: 'T', data } }, scope).isForPage).toBe(isForPage);
});

test.each(['https://shop.example/', 'https://shop.example/app/', 'https://shop.example/app'])(
  'a message without a URL, and its buttons, open the scope: %s',
  (place) => {
    const actions = [{ action: 'see', title: 'See' }];
    const message = pushMessage('id-1', { title: 'T', actions }, events);
    const { url, urls } = readMessage(JSON.parse(JSON.stringify(message)), place).options.data;
    expect([url, urls]).toEqual([place, { see: place }]);
  },
);

test('`/` in a message of another sender is the root of the host', () => {
  expect(read('{"title":"T","url":"/"}').options.data.url).toBe('https://shop.example/');
});

test.each([
  [0.5, 500],
  [20, 20_000],
  [21, 20_000],
  [-1, 0],
  ['5', 0],
  [null, 0],
  [undefined, 0],
])('an event window of %j is %i ms', (window, expected) => {
  const message = { notification: { title: 'T', data: { carillon: 1, id: 'a', events, window } } };
  expect(readMessage(message, scope).eventWindowMs).toBe(expected);
});

test.each([
  ['clicked', false],
  [undefined, true],
  // Of a later version.
  ['all', true],
  [null, true],
])('with `report` %j, that it was shown is reported: %j', (report, expected) => {
  const message = { notification: { title: 'T', data: { carillon: 1, id: 'a', events, report } } };
  expect(readMessage(message, scope).reportsShown).toBe(expected);
});

test('a message of a later version is recognised and shown', () => {
  const later = { notification: { title: 'T', data: { carillon: 2, id: 'a', events } } };
  expect(isCarillonMessage(later)).toBe(true);
  expect(readMessage(later, scope)).toMatchObject({ title: 'T', options: { data: { id: 'a' } } });
});

test.each([
  ['text', 'Just words', { title: 'shop.example', options: { body: 'Just words' } }],
  ['an empty push', '', { title: 'shop.example', options: { data: { url: scope } } }],
  ['flat JSON', '{"title":"T","body":"B"}', { title: 'T', options: { body: 'B' } }],
  ['a declarative message of another sender', '{"notification":{"title":"T"}}', { title: 'T' }],
  [
    'a button without a URL, which opens that of its notification,',
    '{"notification":{"navigate":"/a","actions":[{"action":"see","title":"See"}]}}',
    { options: { data: { urls: { see: new URL('/a', scope).href } } } },
  ],
])('%s is not a Carillon message, and is shown as far as possible', (_, text, expected) => {
  expect(isCarillonMessage(parseText(text))).toBe(false);
  expect(read(text)).toMatchObject(expected);
});

const link = 'https://shop.example/sale';
const shownText = { title: 'T', body: 'B' };
test.each([
  ['OneSignal', { title: 'T', alert: 'B', custom: { i: 'id', u: link } }],
  ['Perfecty', { ...shownText, extra: { url_to_open: link } }],
  [
    'Pusher Beams',
    { notification: { ...shownText, deep_link: link }, data: { pusher: { publishId: 'id' } } },
  ],
  ['Firebase', { notification: shownText, fcmOptions: { link } }],
  ['Firebase, in the former form', { notification: { ...shownText, click_action: link } }],
  ['tutorials', { ...shownText, url: link }],
  ['tutorials, below `data`', { ...shownText, data: { url: link } }],
])('the message of %s is shown with title, text and URL', (_, message) => {
  expect(isCarillonMessage(message)).toBe(false);
  expect(readMessage(message, scope)).toMatchObject({
    title: 'T',
    options: { body: 'B', data: { url: link } },
  });
});

test('buttons of OneSignal have their URLs', () => {
  const o = [{ i: 'see', n: 'See', u: '/see', p: 'https://shop.example/see.png' }];
  const { options } = readMessage({ title: 'T', o }, scope);
  expect(options.actions).toEqual([
    { action: 'see', title: 'See', icon: 'https://shop.example/see.png' },
  ]);
  expect(options.data.urls).toEqual({ see: 'https://shop.example/see' });
});

test('of a Carillon message, only its own members count', () => {
  const message = pushMessage('id-1', { title: 'T', body: 'B', url: link }, events);
  const others = {
    ...{ title: 'other', alert: 'other', body: 'other', url: '/other', click_action: '/other' },
    ...{
      custom: { u: '/other' },
      extra: { url_to_open: '/other' },
      fcmOptions: { link: '/other' },
    },
    ...{ data: { url: '/other', pusher: {} }, o: [{ i: 'other', n: 'Other' }] },
  };
  expect(readMessage({ ...others, ...message }, scope)).toEqual(readMessage(message, scope));
});

test.each([
  [{ url: link }, link],
  [{ custom: { u: link } }, link],
  [{ FCM_MSG: { notification: { title: 'T' } } }, scope],
  ['text', scope],
  [null, scope],
  [{ url: 'javascript:alert(1)' }, scope],
])('a click on a notification that another worker has shown, with the data %j', (data, url) => {
  expect(urlOfClick(data, '', scope)).toBe(url);
});

test('a click opens only http and https URLs', () => {
  const others = ['javascript:alert(1)', 'data:text/html,x', 'httpx://a', 'http+unix://a'];
  for (const navigate of [...others, 'http://[', 7, null]) {
    const message = { notification: { title: 'T', navigate } };
    expect(readMessage(message, scope).options.data.url).toBe(scope);
  }
});

test('any input gives a title and never throws', () => {
  const actions = fc.array(fc.oneof(fc.anything(), fc.constant({ action: 'a', title: 'b' })));
  const member = fc.oneof(fc.anything(), fc.webUrl(), actions, fc.constant({ carillon: 1 }));
  const names = [
    ...['title', 'body', 'icon', 'navigate', 'data', 'notification'],
    ...['tag', 'renotify', 'dir', 'actions', 'timestamp', 'app_badge'],
  ];
  const shape = fc.record(Object.fromEntries(names.map((name) => [name, member])), {
    requiredKeys: [],
  });
  const message = fc.oneof(fc.anything(), shape, fc.record({ notification: shape }));
  fc.assert(
    fc.property(message, (value) => {
      const { title, options } = readMessage(value, scope);
      expect(title).not.toBe('');
      expect(options.data.url).toMatch(/^https?:\/\//);
      expect(options.data.carillon !== undefined).toBe(isCarillonMessage(value));
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => expect(read(text).title).not.toBe('')));
});
